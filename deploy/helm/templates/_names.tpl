{{- define "fedbandit.labels" -}}
app.kubernetes.io/name: fedbandit
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "fedbandit.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* The brokers by the names that their certificate has, one after the other */ -}}
{{- define "fedbandit.brokers" -}}
{{- range $at := until (int .Values.brokers.replicas) -}}
{{ if $at }},{{ end }}{{ $.Release.Name }}-broker-{{ $at }}.{{ $.Release.Name }}-broker:4222
{{- end -}}
{{- end }}

{{- define "fedbandit.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "fedbandit.container" -}}
image: {{ include "fedbandit.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  capabilities: { drop: [ALL] }
{{- end }}
