// Package beliefs asks the simulator and Stripe itself the same questions. The simulator was built from what we believe of
// Stripe; these checks say what that is where documentation is silent, so that whoever has a test key can see who is right:
//
//	go test -v ./simulator/beliefs                    the simulator
//	PAYONCE_ASK_STRIPE=1 STRIPE_SECRET_KEY=sk_test_... go test -v -count=1 ./simulator/beliefs   Stripe's test mode, too
//
// Both variables are needed: a key that happens to be in the environment asks nobody. Only a test key is taken. A run sends
// Stripe at most 60 requests, under 10 a second, and leaves some test payments behind, marked with payonce_belief in their
// metadata. No webhook endpoint is needed: events are listed.
//
// A check that is red for Stripe and green for the simulator is a find: the simulator is wrong, and what relies on it must
// be thought through again. "observed" lines are what the two may rightly differ in: delays, ids, what else was there.
//
// That the simulator passes proves nothing about Stripe. What is not in Stripe's documentation but reported by others or
// concluded by us is called "believed" in the checks.
//
// It must not know the simulator's insides, nor stripe-go: it speaks HTTP, as seen from any client.
package beliefs
