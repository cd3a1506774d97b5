package web_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// happened is the list under "What happened", a line each, without the times.
func (s *shown) happened() (lines []string) {
	s.t.Helper()
	for _, list := range all(s.document, "ol") {
		if attribute(list, "class") != "way" {
			continue
		}
		for _, item := range all(list, "li") {
			line := ""
			for node := range item.Descendants() {
				if node.Type == html.TextNode && node.Parent.Data != "time" && strings.TrimSpace(node.Data) != "" {
					line += " | " + node.Data
				}
			}
			lines = append(lines, attribute(item, "class")+line)
		}
	}
	return lines
}

func TestStory_TellsEachWayInTheBuyersWords(t *testing.T) {
	t.Parallel()
	const (
		ordered = "done | You ordered | Goods kept, prices frozen"
		lost    = "lost | The bank's answer was lost | We find out what it was before anything else is done"
		asked   = "done | We asked your bank | Visa"
		sent    = "ahead | Sent"
		paid    = "ahead | Paid"
	)
	pending, paying := "pending_payment", "paid"
	call := func(call, outcome string, attempt int) fakeEntry {
		return fakeEntry{Type: "provider_call", Call: call, Status: outcome, Attempt: attempt}
	}
	to := func(status, by string) fakeEntry { return fakeEntry{Type: "charge", Status: status, ResolvedBy: by} }
	for _, row := range []struct {
		name          string
		order, charge string
		entries       []fakeEntry
		lines         []string
	}{
		{"PaidAtOnce", paying, "succeeded", []fakeEntry{to("created", ""), call("create", "succeeded", 1), call("confirm", "succeeded", 1), {Type: "order", Status: "paid"}, to("succeeded", "response")},
			[]string{asked, "done | Paid | Visa", sent}},
		{"BankIsBeingAsked", pending, "created", []fakeEntry{call("create", "succeeded", 1), call("confirm", "open", 1)},
			[]string{"now | We asked your bank | Visa", paid, sent}},
		{"AnswerLost", pending, "unknown", []fakeEntry{call("confirm", "unknown", 1), to("unknown", "")},
			[]string{asked, strings.Replace(lost, "lost", "now", 1), paid, sent}},
		{"AnswerLostAndFound", paying, "succeeded", []fakeEntry{call("confirm", "unknown", 1), to("unknown", ""), call("lookup", "unknown", 1), call("lookup", "unknown", 2), call("lookup", "succeeded", 3), to("succeeded", "reconciliation")},
			[]string{asked, lost, "done | We asked what had become of it", "done | Paid | Visa, found out by asking once more", sent}},
		{"ToldByTheBanksMessage", paying, "succeeded", []fakeEntry{call("confirm", "unknown", 1), to("succeeded", "webhook")},
			[]string{asked, lost, "done | Paid | Visa, the bank's own message told us", sent}},
		{"PreparingLost", pending, "failed", []fakeEntry{call("create", "unknown", 1), to("failed", "operator")},
			[]string{lost, "bad | Card refused | Visa, nothing was charged, checked by a person", paid, sent}},
		{"BankNotReached", pending, "failed", []fakeEntry{call("confirm", "not_sent", 1), call("confirm", "declined", 2), to("failed", "response")},
			[]string{"lost | Your bank could not be reached | Nothing was asked of it", "done | We asked your bank again | Visa", "bad | Card refused | Visa, nothing was charged", paid, sent}},
		{"BankWaitsForTheBuyer_LookedAtAllTheTime", pending, "requires_action", []fakeEntry{to("requires_action", ""), call("lookup", "succeeded", 1), call("lookup", "succeeded", 2)},
			[]string{"now | Your bank wanted to be sure it is you | Visa", paid, sent}},
		{"BankThinks", pending, "processing", []fakeEntry{call("confirm", "pending", 1), to("processing", "")},
			[]string{asked, "now | Your bank needs a little longer | Visa", paid, sent}},
		{"SetAside", pending, "authorized", []fakeEntry{call("confirm", "succeeded", 1), to("authorized", "response")},
			[]string{asked, "now | Your bank has set the money aside | Visa", paid, sent}},
		{"SetAsideAndTaken", "fulfilled", "succeeded", []fakeEntry{to("authorized", "response"), call("capture", "succeeded", 1), to("succeeded", "response"), {Type: "order", Status: "fulfilled"}},
			[]string{"done | Your bank has set the money aside | Visa", "done | We asked for the money that was set aside | Visa", "done | Paid | Visa", "done | Sent"}},
		{"BeingGivenUp", pending, "requires_action", []fakeEntry{to("requires_action", ""), {Type: "request", Operation: "charges.cancel", Status: "accepted"}},
			[]string{"done | Your bank wanted to be sure it is you | Visa", "now | Giving this payment up | Visa", paid, sent}},
		{"GivenUp", pending, "canceled", []fakeEntry{{Type: "request", Operation: "charges.cancel", Status: "finished"}, call("cancel", "succeeded", 1), to("canceled", "response")},
			[]string{"done | We asked your bank to stop this payment | Visa", "bad | Try given up | Visa, no money moved", paid, sent}},
		{"StoppedAtTheSecondTry", pending, "canceled", []fakeEntry{call("cancel", "rejected", 1), call("cancel", "succeeded", 2), to("canceled", "response")},
			[]string{"done | We asked your bank to stop this payment | Visa", "done | We asked your bank to stop this payment | Visa", "bad | Try given up | Visa, no money moved", paid, sent}},
		{"Expired", "expired", "failed", []fakeEntry{{Type: "order", Status: "expired"}}, []string{"bad | Expired | Not paid in time"}},
		{"Cancelled", "canceled", "canceled", []fakeEntry{{Type: "order", Status: "canceled"}}, []string{"bad | Cancelled"}},
		{"Refunded", "refunded", "succeeded", []fakeEntry{{Type: "order", Status: "refunded"}}, []string{"done | Refunded"}},
		{"WordsOfALaterVersion", paying, "succeeded", []fakeEntry{to("polished", ""), {Type: "order", Status: "wrapped"}, {Type: "parcel", Status: "packed"}, call("wave", "succeeded", 1)}, []string{sent}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			api := stockedAPI()
			b := newBuyer(t, api)
			page := b.toCheckout().press()
			id := strings.TrimPrefix(page.path, "/orders/")
			api.orders[id].Status, api.charges[0].Status = row.order, row.charge
			api.timelines[id] = api.timelines[id][:2] // the order itself
			for _, e := range row.entries {
				if e.Type != "order" {
					e.ChargeID = api.charges[0].ID
				}
				api.wrote(id, e)
			}
			require.Equal(t, append([]string{ordered}, row.lines...), b.get(page.path).happened())
		})
	}
}

func TestStory_AnswerYoungerThanTheNextEntry_StandsInOrder(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	b := newBuyer(t, api)
	page := b.toCheckout().press()
	id := strings.TrimPrefix(page.path, "/orders/")
	late := noon.Add(time.Minute)
	for i, e := range api.timelines[id] {
		if e.Call == "confirm" {
			api.timelines[id][i].Status, api.timelines[id][i].EndedAt = "unknown", &late
		}
	}
	lines := b.get(page.path).happened()
	require.Contains(t, lines[2], "Paid")
	require.Contains(t, lines[3], "The bank's answer was lost")
}

func TestStory_PlainByDefault_KeysAreForTheCurious(t *testing.T) {
	t.Parallel()
	api, b, _, page := declined(t)
	page = page.form(page.path+"/charges").fill("payment_method", "pm_card_visa").press()
	story := strings.Join(page.happened(), "\n")
	for _, jargon := range []string{"chg_", "req_", ":confirm:", "confirm", "HTTP", "charges.create", "provider", "idempot"} {
		require.NotContains(t, story, jargon)
	}
	page.says("14 Mar 2026, 12:00:01 UTC")

	folded := all(page.document, "details")
	require.Len(t, folded, 1)
	require.False(t, has(folded[0], "open"))
	require.Len(t, all(folded[0], "li"), len(api.timelines[strings.TrimPrefix(page.path, "/orders/")]))
	curious := (&shown{buyer: b, document: folded[0]}).text()
	for _, words := range []string{"sent with key " + api.charges[1].ID + ":confirm:1", "the provider's request req_bank_confirm", "our request req_charge",
		"bank is asked to pay declined, 40 ms", "order is pending_payment", "shop asks for orders.create finished, HTTP 201, 40 ms", "proved by the bank's direct answer", "12:00:01.000"} {
		require.Contains(t, curious, words)
	}
	require.NotContains(t, page.body, "lost_card", "the bank's reason is not for whoever holds the card")
}

func TestStory_ForTheCurious_RepetitionsAreCounted(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	b := newBuyer(t, api)
	page := b.toCheckout().press()
	again := func(call, found string) fakeEntry {
		e := api.asked(api.charges[0], call, "succeeded")
		e.Attempt, e.Found = 2, found
		return e
	}
	api.wrote(strings.TrimPrefix(page.path, "/orders/"), again("confirm", "processing"), again("confirm", "processing"), again("lookup", "processing"),
		again("lookup", "processing"), again("lookup", "processing"), again("lookup", "succeeded"))
	page = b.get(page.path)
	page.says("bank is asked to show the payment, 3 times, last at 12:00:11.000 succeeded", "bank is asked to show the payment succeeded, 40 ms found there succeeded")
	require.Equal(t, 2, strings.Count(page.text(), "bank is asked to pay (attempt 2)"), "what can move money is never folded")
	require.Equal(t, 2, strings.Count(page.text(), "show the payment"))
}

func TestStory_CannotBeRead_ThePageIsShownAllTheSame(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	b := newBuyer(t, api)
	page := b.toCheckout().press()
	for _, fault := range []fault{down, crashed, "404 not-found", "answer lost"} {
		api.fail("orders.timeline", fault)
		blind := b.get(page.path).says("Paid. Thank you.", "cannot be shown right now. Nothing of it is lost.")
		require.Empty(t, all(blind.document, "details"))
	}
	b.get(page.path).says("You ordered")
}
