import { setting } from '../kernel/config'
import { form } from '../kernel/form'
import { t } from '../kernel/schema'

export const voiceSettings = {
  voiceUrl: setting({
    env: 'SVC_VOICE_URL',
    schema: t.String({
      pattern: form(
        '^((wss?|https?)://[^\\s]+)?$',
        'an address that begins with wss://, ws://, https:// or http://, or empty',
      ),
    }),
    default: '',
    about: 'Address of the live voice server. Clients connect to it with a token from /voice/token.',
  }),
  voiceSecret: setting({
    env: 'SVC_VOICE_SECRET',
    schema: t.String({ pattern: form('^$|^.{32,}$', 'at least 32 characters long, or empty') }),
    default: '',
    secret: true,
    about: 'Secret of at least 32 characters that signs voice tokens (HS256) for the live voice server.',
  }),
} as const
