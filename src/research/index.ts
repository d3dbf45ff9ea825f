/** Web search, pages as sources, and reports written from them. */

export { isNothingToRead } from './errors'
export type { Findings } from './run-research'
export { createResearch, type Request, type ResearchService, type Stored } from './service'
export { WebFailure } from './web/failure'
export { createWeb, hasSearch, type Web } from './web/service'
