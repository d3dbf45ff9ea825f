import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

export const widgetSettings = {
  maxWidgets: setting({
    env: 'SVC_MAX_WIDGETS',
    schema: t.Integer({ minimum: 1, maximum: 100_000 }),
    default: 1_000,
    about: 'How many chat widgets one person or organization can have.',
  }),
  widgetSessionsPerHour: setting({
    env: 'SVC_WIDGET_SESSIONS_PER_HOUR',
    schema: t.Integer({ minimum: 1, maximum: 1_000_000 }),
    default: 30,
    about: 'How many chats one address can start with one widget in an hour.',
  }),
  widgetMessagesPerMinute: setting({
    env: 'SVC_WIDGET_MESSAGES_PER_MINUTE',
    schema: t.Integer({ minimum: 1, maximum: 1_000_000 }),
    default: 60,
    about: 'How many messages one address can send to one widget in a minute.',
  }),
  turnstileSiteKey: setting({
    env: 'SVC_TURNSTILE_SITE_KEY',
    schema: t.String({ maxLength: 200 }),
    default: '',
    about: 'Site key of the bot check that widgets can require. Empty turns the check off.',
  }),
  turnstileSecret: setting({
    env: 'SVC_TURNSTILE_SECRET',
    schema: t.String({ maxLength: 200 }),
    default: '',
    about: 'Secret of the bot check that widgets can require.',
    secret: true,
  }),
  turnstileScript: setting({
    env: 'SVC_TURNSTILE_SCRIPT',
    schema: t.String({ maxLength: 2_048 }),
    default: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
    about: 'Address of the script that shows the bot check. Only pages that require the check load it.',
  }),
  turnstileUrl: setting({
    env: 'SVC_TURNSTILE_URL',
    schema: t.String({ maxLength: 2_048 }),
    default: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
    about: 'Address that verifies whether a visitor passed the bot check.',
  }),
}
