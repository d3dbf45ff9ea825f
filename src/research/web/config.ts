import { setting } from '../../kernel/config'
import { form } from '../../kernel/form'
import { oneOf, t } from '../../kernel/schema'

const SEARCH_DRIVERS = ['none', 'searxng', 'brave', 'tavily'] as const

export const webSettings = {
  searchDriver: setting({
    env: 'SVC_SEARCH_DRIVER',
    schema: oneOf(SEARCH_DRIVERS),
    default: 'none',
    about: 'Web search: a SearXNG server, Brave Search or Tavily.',
  }),
  searchBaseUrl: setting({
    env: 'SVC_SEARCH_BASE_URL',
    schema: t.String({
      pattern: form('^(https?://[^\\s]+)?$', 'an address that begins with https:// or http://, or empty'),
    }),
    default: '',
    about: "Address of the search server. Required for searxng; otherwise defaults to the driver's public address.",
  }),
  searchApiKey: setting({
    env: 'SVC_SEARCH_API_KEY',
    schema: t.String(),
    default: '',
    about: 'The key sent to the search server.',
    secret: true,
  }),
} as const
