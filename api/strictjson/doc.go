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
// knows which members nobody asked for. There are two classes of mistakes, and a malformed body is reported as such only:
// JSON that is wrong as JSON or has the wrong types, and well-formed values that are not allowed.
//
// The package knows nothing of HTTP statuses or of any command.
package strictjson
