package simulator

import (
	"strconv"
	"strings"
)

// maxAmount is the largest amount of a payment intent in minor units: eight digits.
const maxAmount = 99_999_999

// currency is what the API knows about a currency.
type currency struct {
	exponent int   // digits of the minor unit
	minimum  int64 // the smallest charge in minor units; 1 where Stripe publishes none
	step     int64 // amounts are a multiple of it
}

var currencies = makeCurrencies()

func makeCurrencies() map[string]currency {
	const (
		twoDecimals = `aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob brl bsd bwp byn bzd cad cdf chf
			cny cop crc cve czk dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gtq gyd hkd hnl htg huf idr ils inr jmd
			kes kgs khr kyd kzt lak lbp lkr lrd lsl mad mdl mkd mmk mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr
			nzd pab pen pgk php pkr pln qar ron rsd rub sar sbd scr sek sgd shp sle sos srd std szl thb tjs top try ttd
			twd tzs uah usd uyu uzs wst xcd yer zar zmw`
		noDecimals    = "bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf"
		threeDecimals = "bhd jod kwd omr tnd" // the last digit must be 0
		hundreds      = "isk ugx"             // written with two decimals that must be 00
	)
	minimums := map[string]int64{
		"aed": 200, "aud": 50, "bgn": 100, "brl": 50, "cad": 50, "chf": 50, "czk": 1500, "dkk": 250, "eur": 50, "gbp": 30,
		"hkd": 400, "huf": 17500, "inr": 50, "jpy": 50, "mxn": 1000, "myr": 200, "nok": 300, "nzd": 50, "pln": 200,
		"ron": 200, "sek": 300, "sgd": 50, "thb": 1000, "usd": 50,
	}
	all := map[string]currency{}
	add := func(codes string, exponent int, step int64) {
		for _, code := range strings.Fields(codes) {
			all[code] = currency{exponent: exponent, minimum: max(minimums[code], 1), step: step}
		}
	}
	add(twoDecimals, 2, 1)
	add(noDecimals, 0, 1)
	add(threeDecimals, 3, 10)
	add(hundreds, 2, 100)
	return all
}

// checkAmount refuses an amount that the currency does not allow. The currency is a known one.
func checkAmount(amount int64, code string) *apiError {
	switch c := currencies[code]; {
	case amount > maxAmount:
		return invalid("amount", codeAmountTooLarge, "Amount must be no more than %d.", maxAmount)
	case amount < c.minimum:
		return invalid("amount", "amount_too_small", "Amount must be at least %d in %s.", c.minimum, code)
	case amount%c.step != 0:
		return invalid("amount", codeInvalidInteger, "Amounts in %s must be a multiple of %d.", code, c.step)
	default:
		return nil
	}
}

// formatAmount writes minor units for people: 1250 eur is "12.50 EUR".
func formatAmount(amount int64, code string) string {
	digits := strconv.FormatInt(amount, 10)
	if exponent := currencies[code].exponent; exponent > 0 {
		if short := exponent + 1 - len(digits); short > 0 {
			digits = strings.Repeat("0", short) + digits
		}
		digits = digits[:len(digits)-exponent] + "." + digits[len(digits)-exponent:]
	}
	return digits + " " + strings.ToUpper(code)
}
