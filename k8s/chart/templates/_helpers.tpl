{{- /* The image: by its digest where one is given, else by its tag. */ -}}
{{- define "flockmail.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ printf "%s@%s" .repository .digest | quote }}
{{- else -}}
{{ printf "%s:%s" .repository (.tag | default $.Chart.AppVersion) | quote }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Where a pod runs and whose its image is: of all values, and of the service's own, which go first. */ -}}
{{- define "flockmail.placement" -}}
{{- $all := index . 0 -}}
{{- $own := index . 1 -}}
{{- with $own.priorityClassName | default $all.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with $own.nodeSelector | default $all.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.tolerations | default $all.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.affinity | default $all.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $all.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- end -}}
