import type { Values } from '../kernel/config'
import type { Outbound } from '../kernel/outbound'
import type { webSettings } from './config'
import { createBrave } from './drivers/brave'
import { createSearxng } from './drivers/searxng'
import { createTavily } from './drivers/tavily'
import { createPages } from './pages'
import type { SearchDriver } from './search'

type WebSettings = Values<typeof webSettings>

type Deps = { outbound: Outbound; settings: WebSettings }

export type Web = ReturnType<typeof createWeb>

/** The web for tools and research. `search` is null when no search server is set, or its address or key is missing. */
export const createWeb = ({ outbound, settings }: Deps) => ({
  search: driverOf(settings)?.search ?? null,
  ...createPages({ outbound }),
})

/** Whether a search server is set, with its address or key. */
export const hasSearch = (settings: WebSettings): boolean => driverOf(settings) !== null

function driverOf({ searchDriver, searchBaseUrl: baseUrl, searchApiKey: apiKey }: WebSettings): SearchDriver | null {
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
