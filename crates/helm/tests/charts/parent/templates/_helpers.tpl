{{- define "parent.name" -}}
{{ .Chart.Name }}-{{ .Release.Name }}
{{- end }}
