/** Research: reports from sources, in which every cited sentence can be checked against what was read. */
export type { Findings } from './conduct'
export { isNothingToRead } from './errors'
export { type Asked, createResearch, type Kept, type ResearchService } from './service'
