import { setting } from '../kernel/config'
import { oneOf, t } from '../kernel/schema'

const SEARCH_DRIVERS = ['none', 'searxng', 'brave', 'tavily'] as const

export const toolSettings = {
  systemTools: setting({
    env: 'SVC_SYSTEM_TOOLS',
    schema: t.String({ pattern: '^[a-z_, ]*$' }),
    default: '',
    about: 'System tools that are on, comma separated, such as web_fetch,code_execute; empty is all of them.',
  }),
  searchDriver: setting({
    env: 'SVC_SEARCH_DRIVER',
    schema: oneOf(SEARCH_DRIVERS),
    default: 'none',
    about: 'What answers web_search: a SearXNG server, Brave Search or Tavily.',
  }),
  searchBaseUrl: setting({
    env: 'SVC_SEARCH_BASE_URL',
    schema: t.String({ pattern: '^(https?://[^\\s]+)?$' }),
    default: '',
    about: 'Address of the search server; needed for searxng, otherwise the public one of the driver.',
  }),
  searchApiKey: setting({
    env: 'SVC_SEARCH_API_KEY',
    schema: t.String(),
    default: '',
    about: 'The key sent to the search server.',
    secret: true,
  }),
} as const
