import type { Screen } from '../state/model'
import { audit } from './audit'
import { browser } from './browser'
import { deliveries } from './deliveries'
import { jobs } from './jobs'
import { keys } from './keys'
import type { ListView } from './list-view'
import { logs } from './logs'
import { submissions } from './submissions'

/** The screens that are lists. The overview and the chats draw themselves. */
export const LISTS: Readonly<Partial<Record<Screen, ListView>>> = {
  jobs,
  deliveries,
  submissions,
  browser,
  keys,
  audit,
  logs,
}

export const TITLES: Readonly<Record<Screen, readonly [whole: string, short: string]>> = {
  overview: ['Overview', 'Over'],
  jobs: ['Jobs', 'Jobs'],
  deliveries: ['Deliveries', 'Deliv'],
  takeovers: ['Takeovers', 'Take'],
  submissions: ['Submissions', 'Subm'],
  browser: ['Browser', 'Brows'],
  keys: ['Keys', 'Keys'],
  audit: ['Audit', 'Audit'],
  logs: ['Logs', 'Logs'],
}
