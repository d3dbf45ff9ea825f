import { AppError, defineError, defineErrors, messageOf, notFound, quoted } from '../kernel/errors'

export const widgetErrors = {
  ...defineErrors('invalid_token', {
    badToken: 'This chat has ended, or its token is from another chat. Start a new chat.',
    badIdentity: (why: string) =>
      `The identity was rejected: "hash" is wrong: ${why}. Sign it on your server; the guide shows how.`,
    badPreview: 'This preview has ended. Create a new link with POST /iframes/{id}/preview-token.',
  }),
  ...defineErrors('not_found', {
    noSuchSkill: (slug: string) =>
      `"behavior.skills" has ${messageOf(slug)}, which is not a skill that the widget's key can run. GET /skills lists them.`,
  }),
  ...defineErrors('origin_not_allowed', {
    originRefused: (origin: string | null) =>
      origin === null
        ? 'Only pages can use widgets: the request has no Origin header, or it is "null".'
        : `This widget does not allow the origin "${quoted(origin)}". Its owner can add it to security.allowedOrigins.`,
  }),
  ...defineErrors('bot_check_failed', {
    botRefused: (why: string) => `The bot check failed: ${why}. Reload the page and try again.`,
  }),
  ...defineErrors('forbidden', {
    brandingNeedsTier: (tier: string) =>
      `"appearance.hideBranding" needs a key of tier starter or higher, but this key is ${tier}.`,
  }),
  ...defineErrors('service_unavailable', {
    cannotKeep: 'Pictures cannot be stored right now. Send the message without them.',
    /** The reason stays hidden from the visitor, because it concerns the owner. */
    cannotAnswer:
      'The assistant cannot answer right now. Your message was saved; try again later, or ask for a person.',
  }),
}

const conflict = <Given extends unknown[]>(text: (...args: Given) => string) => defineError('conflict', text)

export const sessionNotFound = () => notFound('conversation')

export const isOthers = conflict(() => 'This chat belongs to another signed-in person. Start a new one.')
export const tooManyNotes = conflict((max: number) => `A chat has at most ${max} notes.`)
export const nothingRequested = conflict(
  () => 'The visitor has not said anything yet, so there is nothing to draft an answer to.',
)
export const noSuchPerson = () => notFound('person of this widget')
export const isClosed = conflict(() => 'This chat is closed. Start a new one to write again.')
/** 429 with the seconds until the next attempt may succeed. */
export const tooFast = (seconds: number, what: string): AppError =>
  new AppError('rate_limit_exceeded', `${what} Try again in ${seconds} seconds.`, { retryAfterS: seconds })
