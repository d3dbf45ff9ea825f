import { AppError, defineError, notFound, quoted, said } from '../kernel/errors'

export const sessionNotFound = () => notFound('conversation')

export const badToken = defineError(
  'unauthenticated',
  'invalid_token',
  () => 'This chat has ended, or its token is not the one it was begun with. Begin a new chat.',
)
export const badIdentity = defineError(
  'unauthenticated',
  'invalid_token',
  (why: string) => `The identity was not taken: of "hash", ${why}. Sign it on your server; the guide shows how.`,
)
export const isOthers = defineError(
  'conflict',
  'conflict',
  () => 'This chat is the one of another person who is signed in. Begin a new one.',
)
export const tooManyNotes = defineError('conflict', 'conflict', (most: number) => `A chat has at most ${most} notes.`)
export const nothingAsked = defineError(
  'conflict',
  'conflict',
  () => 'The visitor has not said anything yet, so there is nothing to draft an answer to.',
)
export const noSuchPerson = () => notFound('person of this widget')
export const noSuchSkill = defineError(
  'missing',
  'not_found',
  (slug: string) =>
    `"behavior.skills" names ${said(slug)}, which is no skill that the widget's key may run. GET /skills lists them.`,
)
export const badPreview = defineError(
  'unauthenticated',
  'invalid_token',
  () => 'This preview has ended. Make a new link with POST /iframes/{id}/preview-token.',
)
export const originRefused = defineError('forbidden', 'origin_not_allowed', (origin: string | null) =>
  origin === null
    ? 'Widgets are used by pages: the request has no Origin header, or it is "null".'
    : `The origin "${quoted(origin)}" is not one that this widget allows. Its owner can add it to security.allowedOrigins.`,
)
export const botRefused = defineError(
  'forbidden',
  'bot_check_failed',
  (why: string) => `The bot check was not passed: ${why}. Reload the page and try again.`,
)
export const brandingNeedsTier = defineError(
  'forbidden',
  'forbidden',
  (tier: string) => `"appearance.hideBranding" needs a key of tier starter or above, and this one is ${tier}.`,
)
export const isClosed = defineError(
  'conflict',
  'conflict',
  () => 'This chat is closed. Begin a new one to say something.',
)
/** 429 with the seconds after which it can be tried again. */
export const tooFast = (seconds: number, what: string): AppError =>
  new AppError('throttled', 'rate_limit_exceeded', `${what} Try again in ${seconds} seconds.`, { retryAfterS: seconds })
export const cannotKeep = defineError(
  'unavailable',
  'service_unavailable',
  () => 'Pictures cannot be kept right now. Send the message without them.',
)
/** The visitor is not told why: it concerns the owner. */
export const cannotAnswer = defineError(
  'unavailable',
  'service_unavailable',
  () => 'The assistant cannot answer right now. Your message was kept; try again later, or ask for a person.',
)
