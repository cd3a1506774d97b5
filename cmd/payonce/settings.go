package main

import (
	"fmt"
	"reflect"
	"strings"
)

// variableOf finds the environment variable of a field of config.
func variableOf(field string) string {
	if f, ok := reflect.TypeFor[config]().FieldByName(field); ok {
		return f.Tag.Get("env")
	}
	return field
}

// settingsHelp lists the settings as the help of a command shows them.
func settingsHelp() string {
	var b strings.Builder
	b.WriteString("Settings come from the environment:\n\n")
	for _, f := range reflect.VisibleFields(reflect.TypeFor[config]()) {
		if f.Anonymous {
			continue // its fields come next
		}
		text := f.Tag.Get("help")
		if def := f.Tag.Get("envDefault"); def != "" {
			text += " (" + def + ")"
		}
		fmt.Fprintf(&b, "  %-30s %s\n", f.Tag.Get("env"), text)
	}
	return b.String()
}
