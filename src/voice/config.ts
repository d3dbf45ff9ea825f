import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

export const voiceSettings = {
  voiceUrl: setting({
    env: 'SVC_VOICE_URL',
    schema: t.String({ pattern: '^((wss?|https?)://[^\\s]+)?$' }),
    default: '',
    about: 'Address of the live voice server. Clients connect to it with a token from /voice/token.',
  }),
  voiceSecret: setting({
    env: 'SVC_VOICE_SECRET',
    schema: t.String({ pattern: '^$|^.{32,}$' }),
    default: '',
    secret: true,
    about: 'Secret of at least 32 characters that signs voice tokens (HS256) for the live voice server.',
  }),
} as const
