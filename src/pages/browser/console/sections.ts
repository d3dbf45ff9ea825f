import {
  AppWindow,
  Blocks,
  ChartNoAxesColumn,
  Cpu,
  CreditCard,
  Files,
  Inbox,
  KeyRound,
  ListTodo,
  type LucideIcon,
  MessageCircle,
  Route,
  ScrollText,
  Server,
  Settings,
  ShieldAlert,
  ShieldCheck,
  SquareTerminal,
  Users,
  Webhook,
  Workflow,
} from 'lucide-react'
import { type ComponentType, lazy } from 'react'
import type { OperatorRole } from '../../../kernel/caller'
import { part } from './shell/api'

export type Section = {
  /** Its part of the address. Empty for the overview. */
  id: string
  title: string
  group: 'Watch' | 'Build' | 'Manage' | 'Platform'
  icon: LucideIcon
  /** Key that opens the section after `g`. */
  letter?: string
  /** Permission that is needed to see the section. */
  permission?: string
  screen: ComponentType
  /**
   * The operator roles that see the section, and its screens for them: of all owners, and of one owner they look at. An
   * absent screen means the same screen, null means none. Without this member, operators do not see the section.
   */
  operators?: { roles: readonly OperatorRole[]; all?: ComponentType | null; one?: ComponentType | null }
}

/** The billing role does not see people's work. */
const WATCHING = ['viewer', 'support', 'reviewer', 'admin'] as const
const EVERY = [...WATCHING, 'billing'] as const

type Everyone = 'AllRequests' | 'AllJobs' | 'AllEvents' | 'AllChats'
const ofAll = (name: Everyone) =>
  load(() => import('./sections/platform/everyone').then((it) => ({ default: it[name] })))

const load = (screen: () => Promise<{ default: ComponentType }>) => lazy(() => part(screen))

/** The sections in the order of the side bar. Each is loaded when it is first opened. */
export const SECTIONS: readonly Section[] = [
  {
    id: '',
    title: 'Overview',
    group: 'Watch',
    icon: ChartNoAxesColumn,
    letter: 'o',
    permission: 'viewUsage',
    screen: load(() => import('./sections/overview/overview')),
    operators: { roles: EVERY, all: load(() => import('./sections/overview/operators')) },
  },
  {
    id: 'requests',
    title: 'Requests',
    group: 'Watch',
    icon: ScrollText,
    letter: 'r',
    permission: 'viewUsage',
    screen: load(() => import('./sections/requests/requests')),
    operators: {
      roles: EVERY,
      all: ofAll('AllRequests'),
      one: load(() => import('./sections/requests/requests').then((it) => ({ default: it.OwnersRequests }))),
    },
  },
  {
    id: 'inbox',
    title: 'Inbox',
    group: 'Watch',
    icon: Inbox,
    letter: 'i',
    permission: 'manageSkills',
    screen: load(() => import('./sections/inbox/inbox')),
    operators: { roles: WATCHING, all: ofAll('AllChats'), one: null },
  },
  {
    id: 'jobs',
    title: 'Jobs',
    group: 'Watch',
    icon: ListTodo,
    letter: 'j',
    screen: load(() => import('./sections/jobs/jobs')),
    operators: { roles: WATCHING, all: ofAll('AllJobs') },
  },
  {
    id: 'browser',
    title: 'Browser',
    group: 'Watch',
    icon: AppWindow,
    permission: 'manageSkills',
    screen: load(() => import('./sections/browser/browser')),
    operators: { roles: WATCHING },
  },
  {
    id: 'playground',
    title: 'Playground',
    group: 'Build',
    icon: SquareTerminal,
    letter: 'p',
    permission: 'manageSkills',
    screen: load(() => import('./sections/playground/playground')),
  },
  {
    id: 'engines',
    title: 'Engines',
    group: 'Build',
    icon: Cpu,
    letter: 'e',
    screen: load(() => import('./sections/engines/engines')),
    operators: { roles: EVERY, all: load(() => import('./sections/engines/upstreams')), one: null },
  },
  {
    id: 'routing',
    title: 'Routing',
    group: 'Build',
    icon: Route,
    screen: load(() => import('./sections/routing/routing')),
    operators: {
      roles: EVERY,
      // Corrections can only be read for one owner.
      all: load(() => import('./sections/routing/routing').then((it) => ({ default: it.Preferences }))),
    },
  },
  {
    id: 'guardrails',
    title: 'Guardrails',
    group: 'Build',
    icon: ShieldAlert,
    screen: load(() => import('./sections/guardrails/guardrails')),
    operators: {
      roles: EVERY,
      // Fired guardrails can only be read for one owner.
      all: load(() => import('./sections/guardrails/guardrails').then((it) => ({ default: it.Policies }))),
    },
  },
  {
    id: 'skills',
    title: 'Skills',
    group: 'Build',
    icon: Blocks,
    screen: load(() => import('./sections/skills/skills')),
    operators: {
      roles: EVERY,
      all: load(() => import('./sections/skills/review').then((it) => ({ default: it.Review }))),
      one: null,
    },
  },
  {
    id: 'workflows',
    title: 'Workflows',
    group: 'Build',
    icon: Workflow,
    permission: 'manageSkills',
    screen: load(() => import('./sections/workflows/workflows')),
    operators: { roles: WATCHING },
  },
  {
    id: 'widgets',
    title: 'Widgets',
    group: 'Build',
    icon: MessageCircle,
    permission: 'manageSkills',
    screen: load(() => import('./sections/widgets/widgets')),
    operators: { roles: WATCHING },
  },
  {
    id: 'webhooks',
    title: 'Webhooks',
    group: 'Build',
    icon: Webhook,
    permission: 'manageWebhooks',
    screen: load(() => import('./sections/webhooks/webhooks')),
    operators: { roles: EVERY },
  },
  {
    id: 'files',
    title: 'Files',
    group: 'Build',
    icon: Files,
    letter: 'f',
    permission: 'manageSkills',
    screen: load(() => import('./sections/files/files')),
    operators: { roles: WATCHING },
  },
  {
    id: 'keys',
    title: 'Keys',
    group: 'Manage',
    icon: KeyRound,
    letter: 'k',
    screen: load(() => import('./sections/keys/keys')),
    operators: { roles: EVERY },
  },
  {
    id: 'team',
    title: 'Team',
    group: 'Manage',
    icon: Users,
    letter: 't',
    screen: load(() => import('./sections/team/team')),
    operators: { roles: EVERY, all: null },
  },
  {
    id: 'billing',
    title: 'Billing',
    group: 'Manage',
    icon: CreditCard,
    letter: 'b',
    permission: 'manageBilling',
    screen: load(() => import('./sections/billing/billing')),
    operators: { roles: EVERY, all: null, one: load(() => import('./sections/billing/operators')) },
  },
  {
    id: 'audit',
    title: 'Audit',
    group: 'Manage',
    icon: ShieldCheck,
    permission: 'viewAudit',
    screen: load(() => import('./sections/audit/audit')),
    operators: { roles: EVERY, all: ofAll('AllEvents') },
  },
  {
    id: 'settings',
    title: 'Settings',
    group: 'Manage',
    icon: Settings,
    screen: load(() => import('./sections/settings/settings')),
  },
  {
    id: 'platform',
    title: 'Platform',
    group: 'Platform',
    icon: Server,
    screen: load(() => import('./sections/platform/platform')),
    operators: { roles: EVERY, one: null },
  },
]
