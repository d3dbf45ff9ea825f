import { defineError } from '../kernel/errors'

export const voiceUnavailable = defineError(
  'unavailable',
  'voice_unavailable',
  () => 'This server has no live voice. Its operator can set SVC_VOICE_URL to the address of a live voice server.',
)

export const invalidToken = defineError(
  'unauthenticated',
  'invalid_token',
  () => '"session_token" is not a voice token of this account, or it has expired. Get one with POST /voice/token.',
)
