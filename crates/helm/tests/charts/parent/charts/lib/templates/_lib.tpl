{{- define "lib.hello" }}hello from {{ .Chart.Name }}{{ end }}
