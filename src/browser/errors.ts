import { defineError } from '../kernel/errors'

export const browserUnconfigured = defineError(
  'browser_unconfigured',
  () =>
    'This server has no browser. Its operator can install Chromium, or set SVC_BROWSER_PATH or SVC_BROWSER_WS_ENDPOINT.',
)

export const proxiesUnconfigured = defineError(
  'browser_unconfigured',
  () =>
    '"proxies" is true, but this server has no proxy. Send false, or ask its operator to set SVC_BROWSER_UPSTREAM_PROXY.',
)

/** One answer for sessions that do not exist, have ended, or belong to another key (docs/api.md 16). */
export const sessionNotFound = defineError(
  'session_not_found',
  () => 'No open browser session with this id. Start one with POST /browser/sessions.',
)

export const liveViewUnavailable = defineError(
  'live_view_unavailable',
  () => 'The live view of this session cannot be reached right now. Ask again with force=1.',
)

export const sessionLimit = defineError(
  'browser_session_limit',
  (max: number) => `You have ${max} browser sessions open, which is the maximum. End one, or wait until one ends.`,
)

export const serverFull = defineError(
  'browser_session_limit',
  (max: number) => `This server has ${max} browser sessions open, which is the maximum. Try again in a minute.`,
)

export const browserFailed = defineError(
  'service_unavailable',
  () => 'The browser did not start. Nothing was charged; try again in a few seconds.',
)

export const invalidEmbedToken = defineError(
  'invalid_token',
  () => 'This live view link is invalid or has expired. Get a new one from the page where you found it.',
)
