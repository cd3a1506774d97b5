package main

import "payonce/domain"

// catalogueItem is a product of the demo. Its picture is drawn and lies in the web shop under its SKU.
type catalogueItem struct {
	SKU, Name, Description string
	Prices                 []domain.Price
	Stock                  int64
}

// catalogue is what the demo sells. Prices are minor units; those in dinars end in 0, because the provider wants it so.
var catalogue = []catalogueItem{
	{"mug", "Stoneware mug", "Holds 350 ml, and a grudge against dishwashers. Glazed inside and out.",
		prices(1999, 2199, 1799, 1900, 3200, 6500), 240},
	{"espresso-cups", "Espresso cups, set of two", "Thick walls, so the second sip is as warm as the first.",
		prices(2450, 2650, 2150, 2400, 3900, 8000), 120},
	{"notebook", "Dot-grid notebook", "192 numbered pages that open flat. Thread-bound, elastic band.",
		prices(1450, 1590, 1290, 1400, 2300, 4750), 400},
	{"pen-set", "Set of three pens", "Black, blue and red ink in 0.5 mm. For sums that must add up.",
		prices(990, 1090, 890, 950, 1600, 3200), 500},
	{"tote-bag", "Canvas tote bag", "Heavy cotton with long handles. Carries twelve notebooks, or one melon.",
		prices(1690, 1850, 1490, 1600, 2700, 5500), 180},
	{"t-shirt", "Organic cotton T-shirt", "Straight cut, double-stitched hems, softer with every wash.",
		prices(2900, 3200, 2500, 2800, 4600, 9500), 150},
	{"cap", "Six-panel cap", "Brushed cotton with a brass buckle. Keeps the sun out of your ledger.",
		prices(2200, 2400, 1950, 2100, 3500, 7250), 90},
	{"poster", "Poster, 50 × 70 cm", "Printed on uncoated paper in five colours. Only a few are left, so hurry, but pay once.",
		prices(3500, 3800, 3100, 3400, 5600, 11500), 3},
}

func prices(eur, usd, gbp, chf, jpy, kwd int64) []domain.Price {
	return []domain.Price{
		{Currency: domain.EUR, UnitAmount: eur}, {Currency: domain.USD, UnitAmount: usd}, {Currency: domain.GBP, UnitAmount: gbp},
		{Currency: domain.CHF, UnitAmount: chf}, {Currency: domain.JPY, UnitAmount: jpy}, {Currency: domain.KWD, UnitAmount: kwd},
	}
}
