package strictjson

import "encoding/json"

// Tree is the whole of an object, as encoding/json would have read it with UseNumber. ok is false when something was
// noted against it.
func Tree(o *Object) (tree any, ok bool) {
	return treeOf(value{kind: kindObject, members: o.members}), o.all.err() == nil
}

func treeOf(v value) any {
	switch v.kind {
	case kindNull:
		return nil
	case kindBool:
		return v.truth
	case kindNumber:
		return json.Number(v.text)
	case kindString:
		return v.text
	case kindList:
		list := make([]any, len(v.items))
		for i, item := range v.items {
			list[i] = treeOf(item)
		}
		return list
	default:
		object := make(map[string]any, len(v.members))
		for _, m := range v.members {
			object[m.name] = treeOf(m.value)
		}
		return object
	}
}
