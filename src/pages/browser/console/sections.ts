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

const sectionOf = (
  group: Section['group'],
  icon: LucideIcon,
  id: string,
  title: string,
  screen: ComponentType,
  more: Omit<Section, 'group' | 'icon' | 'id' | 'title' | 'screen'> = {},
): Section => ({ group, icon, id, title, screen, ...more })

/** The sections in the order of the side bar. Each is loaded when it is first opened. */
export const SECTIONS: readonly Section[] = [
  sectionOf(
    'Watch',
    ChartNoAxesColumn,
    '',
    'Overview',
    load(() => import('./sections/overview/overview')),
    {
      letter: 'o',
      permission: 'viewUsage',
      operators: { roles: EVERY, all: load(() => import('./sections/overview/operators')) },
    },
  ),
  sectionOf(
    'Watch',
    ScrollText,
    'requests',
    'Requests',
    load(() => import('./sections/requests/requests')),
    {
      letter: 'r',
      permission: 'viewUsage',
      operators: {
        roles: EVERY,
        all: ofAll('AllRequests'),
        one: load(() => import('./sections/requests/requests').then((it) => ({ default: it.OwnersRequests }))),
      },
    },
  ),
  sectionOf(
    'Watch',
    Inbox,
    'inbox',
    'Inbox',
    load(() => import('./sections/inbox/inbox')),
    {
      letter: 'i',
      permission: 'manageSkills',
      operators: { roles: WATCHING, all: ofAll('AllChats'), one: null },
    },
  ),
  sectionOf(
    'Watch',
    ListTodo,
    'jobs',
    'Jobs',
    load(() => import('./sections/jobs/jobs')),
    {
      letter: 'j',
      operators: { roles: WATCHING, all: ofAll('AllJobs') },
    },
  ),
  sectionOf(
    'Watch',
    AppWindow,
    'browser',
    'Browser',
    load(() => import('./sections/browser/browser')),
    {
      permission: 'manageSkills',
      operators: { roles: WATCHING },
    },
  ),
  sectionOf(
    'Build',
    SquareTerminal,
    'playground',
    'Playground',
    load(() => import('./sections/playground/playground')),
    {
      letter: 'p',
      permission: 'manageSkills',
    },
  ),
  sectionOf(
    'Build',
    Cpu,
    'engines',
    'Engines',
    load(() => import('./sections/engines/engines')),
    {
      letter: 'e',
      operators: { roles: EVERY, all: load(() => import('./sections/engines/upstreams')), one: null },
    },
  ),
  // Corrections, and what guardrails found, can only be read for one owner.
  sectionOf(
    'Build',
    Route,
    'routing',
    'Routing',
    load(() => import('./sections/routing/routing')),
    {
      operators: {
        roles: EVERY,
        all: load(() => import('./sections/routing/routing').then((it) => ({ default: it.Preferences }))),
      },
    },
  ),
  sectionOf(
    'Build',
    ShieldAlert,
    'guardrails',
    'Guardrails',
    load(() => import('./sections/guardrails/guardrails')),
    {
      operators: {
        roles: EVERY,
        all: load(() => import('./sections/guardrails/guardrails').then((it) => ({ default: it.Policies }))),
      },
    },
  ),
  sectionOf(
    'Build',
    Blocks,
    'skills',
    'Skills',
    load(() => import('./sections/skills/skills')),
    {
      operators: {
        roles: EVERY,
        all: load(() => import('./sections/skills/review').then((it) => ({ default: it.Review }))),
        one: null,
      },
    },
  ),
  sectionOf(
    'Build',
    Workflow,
    'workflows',
    'Workflows',
    load(() => import('./sections/workflows/workflows')),
    {
      permission: 'manageSkills',
      operators: { roles: WATCHING },
    },
  ),
  sectionOf(
    'Build',
    MessageCircle,
    'widgets',
    'Widgets',
    load(() => import('./sections/widgets/widgets')),
    {
      permission: 'manageSkills',
      operators: { roles: WATCHING },
    },
  ),
  sectionOf(
    'Build',
    Webhook,
    'webhooks',
    'Webhooks',
    load(() => import('./sections/webhooks/webhooks')),
    {
      permission: 'manageWebhooks',
      operators: { roles: EVERY },
    },
  ),
  sectionOf(
    'Build',
    Files,
    'files',
    'Files',
    load(() => import('./sections/files/files')),
    {
      letter: 'f',
      permission: 'manageSkills',
      operators: { roles: WATCHING },
    },
  ),
  sectionOf(
    'Manage',
    KeyRound,
    'keys',
    'Keys',
    load(() => import('./sections/keys/keys')),
    {
      letter: 'k',
      operators: { roles: EVERY },
    },
  ),
  sectionOf(
    'Manage',
    Users,
    'team',
    'Team',
    load(() => import('./sections/team/team')),
    {
      letter: 't',
      operators: { roles: EVERY, all: null },
    },
  ),
  sectionOf(
    'Manage',
    CreditCard,
    'billing',
    'Billing',
    load(() => import('./sections/billing/billing')),
    {
      letter: 'b',
      permission: 'manageBilling',
      operators: { roles: EVERY, all: null, one: load(() => import('./sections/billing/operators')) },
    },
  ),
  sectionOf(
    'Manage',
    ShieldCheck,
    'audit',
    'Audit',
    load(() => import('./sections/audit/audit')),
    {
      permission: 'viewAudit',
      operators: { roles: EVERY, all: ofAll('AllEvents') },
    },
  ),
  sectionOf(
    'Manage',
    Settings,
    'settings',
    'Settings',
    load(() => import('./sections/settings/settings')),
  ),
  sectionOf(
    'Platform',
    Server,
    'platform',
    'Platform',
    load(() => import('./sections/platform/platform')),
    {
      operators: { roles: EVERY, one: null },
    },
  ),
]
