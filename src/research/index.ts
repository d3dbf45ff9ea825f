/** Research: web search, reading pages, and reports written from them. */

export { isNothingToRead, WebFailure } from './errors'
export type { Findings } from './run-research'
export { createResearch, type Request, type ResearchService, type Stored } from './service'
export { createWeb, hasSearch, type Web } from './web/service'
