// Package strictjson reads the bodies of requests so that nothing is silently dropped, rounded or guessed. encoding/json
// takes the last of two equal members, matches names in any case, turns broken text into U+FFFD and passes over what it
// does not know; where money is concerned each of these is a different request than the one that was sent.
//
// A body is first parsed into a tree by [Read], which refuses everything that is wrong with the JSON as such. A command
// is then built from the tree by asking for each member:
//
//	body, err := strictjson.Read(bytes)
//	...
//	command.Email = body.Text("email", Required, Length(3, 254))
//	command.Quantity = body.Int("quantity", Required, Range(1, 10_000))
//	err = body.Err()
//
// Nothing fails on the way: all mistakes are collected with JSON pointers (RFC 6901) and told at once by Err, which also
// knows which members nobody asked for. Only broken syntax ends the reading, because behind it everything is a guess.
//
// There are two classes of mistakes, and a malformed body is reported as such only:
//
//   - malformed: broken syntax or text, members that are unknown, given twice or in another case, values of the wrong
//     type, null where nothing says [Nullable], numbers that are not written as 64-bit whole numbers, more than eight
//     levels;
//   - invalid: well-formed, but out of range, too long, too many, blank, not of the wanted form, or required and missing.
//
// A missing member counts as invalid: the JSON is sound, it just does not say enough.
//
// The package knows nothing of HTTP statuses or of any command.
package strictjson
