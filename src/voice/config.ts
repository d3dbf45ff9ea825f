import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

export const voiceSettings = {
  voiceUrl: setting({
    env: 'SVC_VOICE_URL',
    schema: t.String({ pattern: '^((wss?|https?)://[^\\s]+)?$' }),
    default: '',
    about: 'Address of the live voice server that clients connect to with a token of /voice/token.',
  }),
  voiceSecret: setting({
    env: 'SVC_VOICE_SECRET',
    schema: t.String({ pattern: '^$|^.{32,}$' }),
    default: '',
    secret: true,
    about: 'Secret of 32 characters or more that signs voice tokens (HS256), for a live voice server that checks them.',
  }),
} as const
