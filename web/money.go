package web

import (
	"strings"

	"github.com/bojanz/currency"
)

// currencies are the ones a buyer can choose from, in the order of the menu.
var currencies = []string{"EUR", "USD", "GBP", "CHF", "JPY", "KWD"}

// money writes amounts the way the buyer reads them.
type money struct{ formatter *currency.Formatter }

// moneyFor takes the language that a browser puts first; one that is not known counts as English. Preference weights
// further down the list do not matter: only separators and the place of the symbol depend on it.
func moneyFor(acceptLanguage string) money {
	first, _, _ := strings.Cut(acceptLanguage, ",")
	first, _, _ = strings.Cut(first, ";")
	return money{currency.NewFormatter(currency.NewLocale(strings.TrimSpace(first)))}
}

// format renders minor units with the decimals of their currency: 1999 EUR is 19,99 € to a German, 1999 JPY is ¥1,999.
func (m money) format(minor int64, code string) string {
	amount, err := currency.NewAmountFromInt64(minor, code)
	if err != nil {
		return code // not a currency; a page with a hole is better than none, and the API never sends one
	}
	return m.formatter.Format(amount)
}
