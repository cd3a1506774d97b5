package simulator

import "encoding/json"

// nullable is a text that is null when it is empty.
type nullable string

// MarshalJSON writes null for the empty text.
func (n nullable) MarshalJSON() ([]byte, error) {
	if n == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(n))
}

// setText changes a field to what a request gave for it; nil leaves it alone.
func setText(field *nullable, given *string) {
	if given != nil {
		*field = nullable(*given)
	}
}

// unset is a field of Stripe's object that this simulator never fills: always null.
type unset struct{}

// MarshalJSON writes null.
func (unset) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// UnmarshalJSON accepts whatever an older or newer data file holds there.
func (*unset) UnmarshalJSON([]byte) error { return nil }

// reference is a field that holds another object's id, or, when the caller asked to expand it, the object.
type reference struct {
	id   string
	full any
}

func referTo(id string) reference { return reference{id: id} }

// MarshalJSON writes the object, the id or null.
func (r reference) MarshalJSON() ([]byte, error) {
	switch {
	case r.full != nil:
		return json.Marshal(r.full)
	case r.id != "":
		return json.Marshal(r.id)
	default:
		return []byte("null"), nil
	}
}

// UnmarshalJSON reads what the data file holds: an id or null.
func (r *reference) UnmarshalJSON(text []byte) error {
	r.full = nil
	return json.Unmarshal(text, &r.id)
}
