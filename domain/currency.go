package domain

import (
	"fmt"
	"math"
	"strings"
)

// Currency is an ISO 4217 code in upper case, one of those in the table below.
type Currency string

// The currencies a shop can sell in.
const (
	EUR Currency = "EUR"
	USD Currency = "USD"
	GBP Currency = "GBP"
	CHF Currency = "CHF"
	JPY Currency = "JPY"
	KWD Currency = "KWD"
)

// MaxAmount is the largest amount of one charge in minor units of any currency: Stripe takes eight digits.
const MaxAmount int64 = 99_999_999

// CurrencyRule is what one currency asks of an amount.
type CurrencyRule struct {
	Code     Currency
	Exponent int   // decimals of the minor unit, by ISO 4217
	Minimum  int64 // smallest total that can be charged, in minor units: the provider's minimum charge
	Step     int64 // an amount must be a multiple of this: Stripe wants the last digit of three-decimal currencies to be 0
}

// currencies is the only table of currencies: prices, totals, the provider adapter and the database read the same one.
var currencies = []CurrencyRule{
	{EUR, 2, 50, 1},
	{USD, 2, 50, 1},
	{GBP, 2, 30, 1},
	{CHF, 2, 50, 1},
	{JPY, 0, 50, 1},
	{KWD, 3, 150, 10},
}

// Currencies lists the rules in a fixed order.
func Currencies() []CurrencyRule { return append([]CurrencyRule(nil), currencies...) }

// ParseCurrency accepts a code in any case. The second result is false for a currency that is not sold in.
func ParseCurrency(s string) (Currency, bool) {
	c := Currency(strings.ToUpper(s))
	_, ok := c.Rule()
	return c, ok
}

// Rule looks the currency up in the table.
func (c Currency) Rule() (CurrencyRule, bool) {
	for _, r := range currencies {
		if r.Code == c {
			return r, true
		}
	}
	return CurrencyRule{}, false
}

// Money is an amount in the minor unit of its currency: cents of a euro, whole yen, thousandths of a Kuwaiti dinar.
type Money struct {
	Amount   int64    `json:"amount"`
	Currency Currency `json:"currency"`
}

// CheckUnitAmount says why amount cannot be a price in this currency, or returns "". A price may be 0.
func (r CurrencyRule) CheckUnitAmount(amount int64) string {
	switch {
	case amount < 0 || amount > MaxAmount:
		return fmt.Sprintf("must be from 0 to %d", MaxAmount)
	case amount%r.Step != 0:
		return fmt.Sprintf("must be a multiple of %d in %s", r.Step, r.Code)
	}
	return ""
}

// CheckTotal says why an order of this total cannot be charged, or returns "".
func (r CurrencyRule) CheckTotal(total int64) string {
	switch {
	case total < r.Minimum:
		return fmt.Sprintf("the total must be at least %d minor units of %s", r.Minimum, r.Code)
	case total > MaxAmount:
		return fmt.Sprintf("the total must be at most %d minor units of %s", MaxAmount, r.Code)
	case total%r.Step != 0:
		return fmt.Sprintf("the total must be a multiple of %d in %s", r.Step, r.Code)
	}
	return ""
}

// Multiply is a*b for non-negative factors; ok is false when the product does not fit in an int64. Money that wraps
// around silently is the oldest bug of the trade.
func Multiply(a, b int64) (product int64, ok bool) {
	if a < 0 || b < 0 || (b != 0 && a > math.MaxInt64/b) {
		return 0, false
	}
	return a * b, true
}

// Add is a+b for non-negative terms; ok is false when the sum does not fit in an int64.
func Add(a, b int64) (sum int64, ok bool) {
	if a < 0 || b < 0 || a > math.MaxInt64-b {
		return 0, false
	}
	return a + b, true
}
