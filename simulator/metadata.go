package simulator

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Stripe's limits on metadata, in characters.
const (
	maxMetadataKeys  = 50
	maxMetadataKey   = 40
	maxMetadataValue = 500
)

// metadataChange is what a request does to an object's metadata. An empty value removes its name.
type metadataChange struct {
	clear bool
	set   map[string]string
}

// metadata reads the metadata parameter. metadata= clears everything.
func (p *params) metadata() metadataChange {
	n := p.take("metadata")
	if n == nil {
		return metadataChange{}
	}
	if n.members == nil {
		if n.text != "" {
			p.fail(invalid("metadata", "", "Invalid object: metadata must be a set of key-value pairs."))
		}
		return metadataChange{clear: true}
	}
	change := metadataChange{set: make(map[string]string, len(n.members))}
	for _, name := range slices.Sorted(maps.Keys(n.members)) {
		value := n.members[name]
		p.checkMetadata(name, value)
		change.set[name] = value.text
	}
	// Checked here as well as after merging, so that a hopeless request is refused before it claims its key.
	added := 0
	for _, value := range change.set {
		if value != "" {
			added++
		}
	}
	if added > maxMetadataKeys {
		p.fail(tooMuchMetadata())
	}
	return change
}

func (p *params) checkMetadata(name string, value *node) {
	param := "metadata[" + name + "]"
	switch {
	case value.members != nil:
		p.fail(invalid(param, "", "Metadata values must be strings."))
	case name == "" || strings.ContainsAny(name, "[]"):
		p.fail(invalid(param, "", "Metadata keys are not empty and have no square brackets."))
	case utf8.RuneCountInString(name) > maxMetadataKey:
		p.fail(invalid("metadata", "", "Metadata keys have at most %d characters.", maxMetadataKey))
	case utf8.RuneCountInString(value.text) > maxMetadataValue:
		p.fail(invalid(param, "", "Metadata values have at most %d characters.", maxMetadataValue))
	}
}

func tooMuchMetadata() *apiError {
	return invalid("metadata", "", "An object has at most %d metadata keys.", maxMetadataKeys)
}

// apply returns the metadata after the change. The old map is left alone: committed versions share it.
func (c metadataChange) apply(old map[string]string) (map[string]string, *apiError) {
	merged := map[string]string{}
	if !c.clear {
		maps.Copy(merged, old)
	}
	for name, value := range c.set {
		if value == "" {
			delete(merged, name)
			continue
		}
		merged[name] = value
	}
	if len(merged) > maxMetadataKeys {
		return nil, tooMuchMetadata()
	}
	return merged, nil
}
