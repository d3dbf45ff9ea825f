import { setting } from '../kernel/config'
import { form } from '../kernel/form'
import { t } from '../kernel/schema'

/** Settings for exporting traces and metrics. */
export const otelSettings = {
  otelEndpoint: setting({
    env: 'SVC_OTEL_ENDPOINT',
    schema: t.String({
      pattern: form('^$|^https?://[^\\s]+$', 'an address that begins with https:// or http://, or empty'),
    }),
    default: '',
    about: 'OTLP/HTTP base URL of an OpenTelemetry collector for traces and metrics. Nothing is sent unless set.',
  }),
  otelHeaders: setting({
    env: 'SVC_OTEL_HEADERS',
    schema: t.String(),
    default: '',
    secret: true,
    about: 'Headers for the collector as name=value, separated by commas.',
  }),
  otelServiceName: setting({
    env: 'SVC_OTEL_SERVICE_NAME',
    schema: t.String({ minLength: 1 }),
    default: 'svc',
    about: 'Name of this server in the collector.',
  }),
  otelSeconds: setting({
    env: 'SVC_OTEL_SECONDS',
    schema: t.Integer({ minimum: 1, maximum: 300 }),
    default: 15,
    about: 'How often traces and metrics are sent.',
  }),
} as const
