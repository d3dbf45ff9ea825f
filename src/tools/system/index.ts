import type { Values } from '../../kernel/config'
import type { Outbound } from '../../kernel/outbound'
import type { toolSettings } from '../config'
import { createBrave } from '../drivers/brave'
import { createSearxng } from '../drivers/searxng'
import { createTavily } from '../drivers/tavily'
import type { SearchDriver } from '../search'
import type { Tool } from '../tool'
import { createCodeExecute } from './code-execute'
import { createWebFetch } from './web-fetch'
import { createWebSearch } from './web-search'

type ToolSettings = Values<typeof toolSettings>

type Deps = { outbound: Outbound; settings: ToolSettings }

/** The system tools of this room; later rooms register theirs. */
export const createSystemTools = ({ outbound, settings }: Deps): Tool[] => [
  createWebSearch({ driver: driverOf(settings) }),
  createWebFetch({ outbound }),
  createCodeExecute(),
]

/** Null when no search driver is set, or its address or key is missing. */
function driverOf({ searchDriver, searchBaseUrl: baseUrl, searchApiKey: apiKey }: ToolSettings): SearchDriver | null {
  switch (searchDriver) {
    case 'searxng':
      return baseUrl ? createSearxng({ baseUrl, apiKey }) : null
    case 'brave':
      return apiKey ? createBrave({ baseUrl, apiKey }) : null
    case 'tavily':
      return apiKey ? createTavily({ baseUrl, apiKey }) : null
    default:
      return null
  }
}
