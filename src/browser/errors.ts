import { defineErrors } from '../kernel/errors'

export const browserErrors = {
  ...defineErrors('browser_unconfigured', {
    browserUnconfigured:
      'This server has no browser. Its operator can install Chromium, or set SVC_BROWSER_PATH or SVC_BROWSER_WS_ENDPOINT.',
    proxiesUnconfigured:
      '"proxies" is true, but this server has no proxy. Send false, or ask its operator to set SVC_BROWSER_UPSTREAM_PROXY.',
  }),
  ...defineErrors('session_not_found', {
    /** One answer for sessions that do not exist, have ended, or belong to another key (docs/api.md 16). */
    sessionNotFound: 'No open browser session with this id. Start one with POST /browser/sessions.',
  }),
  ...defineErrors('live_view_unavailable', {
    liveViewUnavailable: 'The live view of this session cannot be reached right now. Ask again with force=1.',
  }),
  ...defineErrors('browser_session_limit', {
    sessionLimit: (max: number) =>
      `You have ${max} browser sessions open, which is the maximum. End one, or wait until one ends.`,
    serverFull: (max: number) =>
      `This server has ${max} browser sessions open, which is the maximum. Try again in a minute.`,
  }),
  ...defineErrors('service_unavailable', {
    browserFailed: 'The browser did not start. Nothing was charged; try again in a few seconds.',
  }),
  ...defineErrors('invalid_token', {
    invalidEmbedToken: 'This live view link is invalid or has expired. Get a new one from the page where you found it.',
  }),
}
