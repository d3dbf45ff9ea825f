import { Persona } from '../completions/schema'
import { form } from '../kernel/form'
import { defineId, type Id, KeyId } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import { RangeQuery } from '../kernel/range'
import { namedObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'

export const WidgetId = defineId('widget')
export type WidgetId = Id<'widget'>

const Words = (maxLength: number, description?: string) =>
  t.String({ maxLength, ...(description ? { description } : {}) })
const Link = Words(2_048, 'https address; empty: none')
const COLOR = form('^(#[0-9a-fA-F]{3,8}|[a-z]{3,30})$', 'a hex colour such as #0a7cff, or a colour name')
const FONT = form('^[\\w ,\'"-]{1,200}$', 'font names separated by commas, such as Inter, sans-serif')

const appearance = {
  primaryColor: t.String({ pattern: COLOR, description: 'Hex colour or a colour name' }),
  position: oneOf(['bottom-right', 'bottom-left'] as const),
  borderRadius: t.Integer({ minimum: 0, maximum: 64, description: 'Pixels' }),
  fontFamily: t.String({ pattern: FONT }),
  customCss: Words(20_000, 'Rules that could load, cover or run something are removed'),
  title: Words(120),
  logoUrl: Link,
  avatarUrl: Link,
  launcherText: Words(80),
  theme: oneOf(['light', 'dark', 'auto'] as const),
  hideBranding: t.Boolean({ description: 'Needs a key of tier starter or above' }),
}
const behavior = {
  welcomeMessage: Words(2_000),
  placeholder: Words(200),
  maxPromptLength: t.Integer({ minimum: 1, maximum: 10_000 }),
  enableFileUpload: t.Boolean({ description: 'Visitors may attach pictures' }),
  enableVoice: t.Boolean(),
  strictAbuse: t.Boolean({ description: 'Limits rapid, repeated and over-long messages from one address' }),
  mode: Words(64, 'Mode of the answers'),
  skills: t.Array(t.String({ minLength: 1, maxLength: 128 }), { maxItems: 20 }),
  suggestedPrompts: t.Array(t.String({ minLength: 1, maxLength: 200 }), { maxItems: 6 }),
  persona: Persona,
}
const security = {
  requireTurnstile: t.Boolean({ description: 'Visitors must pass a bot check before a session' }),
  allowedOrigins: t.Array(t.String({ minLength: 1, maxLength: 300 }), {
    maxItems: 50,
    description: 'Origins whose pages may show the widget; empty: those of the key',
  }),
  sessionTtlMinutes: t.Integer({ minimum: 5, maximum: 43_200 }),
  maxMessagesPerSession: t.Integer({ minimum: 1, maximum: 10_000 }),
}
const intents = {
  enabled: t.Boolean(),
  keywords: t.Array(t.String({ minLength: 2, maxLength: 80 }), { maxItems: 50 }),
  action: oneOf(['takeover', 'redirect', 'message', 'webhook'] as const),
  url: nullable(t.String({ maxLength: 2_048, description: 'Target of `redirect`, or address that `webhook` calls' })),
  message: nullable(t.String({ maxLength: 2_000, description: 'Message to visitors' })),
}

const groups = {
  appearance: t.Object(appearance),
  behavior: t.Object(behavior),
  security: t.Object(security),
  intents: t.Object(intents),
}
export type Appearance = Static<typeof groups.appearance>
export type Behavior = Static<typeof groups.behavior>
export type Security = Static<typeof groups.security>
export type Intents = Static<typeof groups.intents>
export type Groups = { appearance: Appearance; behavior: Behavior; security: Security; intents: Intents }

const sent = {
  name: t.Optional(t.String({ minLength: 1, maxLength: 128 })),
  appearance: t.Optional(t.Partial(groups.appearance)),
  behavior: t.Optional(t.Partial(groups.behavior)),
  security: t.Optional(t.Partial(groups.security)),
  intents: t.Optional(t.Partial(groups.intents)),
}

export const NewWidget = namedObject('NewWidget', {
  api_key_id: t.String({ maxLength: 64, description: 'Key that answers and pays' }),
  ...sent,
})
export type NewWidget = Static<typeof NewWidget>
export const WidgetPatch = namedObject('WidgetPatch', {
  api_key_id: t.Optional(t.String({ maxLength: 64 })),
  status: t.Optional(oneOf(['active', 'disabled'] as const)),
  ...sent,
})
export type WidgetPatch = Static<typeof WidgetPatch>
export const Widget = namedObject('Widget', {
  id: WidgetId.schema,
  object: t.Literal('iframe_config'),
  name: t.String(),
  status: oneOf(['active', 'disabled'] as const),
  api_key_id: KeyId.schema,
  ...groups,
  embed_snippet: t.String({ description: 'HTML tag for the page' }),
  sessions: t.Optional(t.Integer({ minimum: 0, description: 'In lists with `sessions_from`: begun since then' })),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Widget = Static<typeof Widget>
export const WidgetPage = pageOf('configs', Widget)
export const WidgetQuery = t.Object({
  ...PageQuery.properties,
  sessions_from: t.Optional(
    t.String({ maxLength: 40, description: 'ISO 8601: adds how many sessions each widget has had since then' }),
  ),
})
export type WidgetQuery = Static<typeof WidgetQuery>

export const Duplicate = t.Optional(t.Object({ name: t.Optional(t.String({ minLength: 1, maxLength: 128 })) }))
export type Duplicate = Static<typeof Duplicate>

export const PreviewToken = t.Object({ token: t.String(), preview_url: t.String(), expires_at: Timestamp })
export type PreviewToken = Static<typeof PreviewToken>

export const IdentitySecret = t.Object({
  secret: t.String({ description: 'Signs the identity of visitors. Shown once; the previous one stops working' }),
})
export type IdentitySecret = Static<typeof IdentitySecret>

export const DomainCheck = t.Object({
  domain: t.String({ minLength: 1, maxLength: 253, description: 'Host name, such as shop.example' }),
  method: t.Optional(oneOf(['dns', 'file'] as const)),
})
export type DomainCheck = Static<typeof DomainCheck>
export const DomainChecked = t.Object({
  domain: t.String(),
  verified: t.Boolean(),
  method: oneOf(['dns', 'file'] as const),
  record: t.Object({ name: t.String(), value: t.String() }),
  checked_at: Timestamp,
})
export type DomainChecked = Static<typeof DomainChecked>

const Count = t.Integer({ minimum: 0 })
export const AnalyticsQuery = RangeQuery
export type AnalyticsQuery = Static<typeof AnalyticsQuery>
export const Analytics = t.Object({
  period: t.Object({ from: Timestamp, to: Timestamp }),
  totals: t.Object({
    sessions: Count,
    messages: Count,
    visitors: Count,
    takeovers: Count,
    avg_messages_per_session: t.Number(),
    avg_first_response_ms: nullable(t.Number()),
    csat: nullable(t.Number({ description: 'Mean rating, 1 to 5' })),
    cost_cents: t.Number(),
  }),
  by_day: t.Array(t.Object({ date: t.String(), sessions: Count, messages: Count, cost_cents: t.Number() })),
  top_origins: t.Array(t.Object({ origin: t.String(), sessions: Count })),
})
export type Analytics = Static<typeof Analytics>

/** The public facts of a widget, before there is a session. */
export const PublicWidget = namedObject('PublicWidget', {
  id: WidgetId.schema,
  name: t.String(),
  status: t.Literal('active'),
  appearance: groups.appearance,
  behavior: t.Object({
    welcomeMessage: behavior.welcomeMessage,
    placeholder: behavior.placeholder,
    maxPromptLength: behavior.maxPromptLength,
    enableFileUpload: behavior.enableFileUpload,
    enableVoice: behavior.enableVoice,
    suggestedPrompts: behavior.suggestedPrompts,
  }),
  security: t.Object({
    requireTurnstile: security.requireTurnstile,
    turnstileSiteKey: nullable(t.String({ description: 'For the bot check; null if none is set up' })),
    turnstileScript: nullable(t.String({ description: 'Script of the bot check; null unless it is required' })),
  }),
})
export type PublicWidget = Static<typeof PublicWidget>
