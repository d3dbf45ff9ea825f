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

const load = (screen: () => Promise<{ default: ComponentType }>) => lazy(() => part(screen))

const requests = () => import('./sections/requests/requests')
const routing = () => import('./sections/routing/routing')
const guardrails = () => import('./sections/guardrails/guardrails')
const everyone = () => import('./sections/platform/everyone')

const Overview = load(() => import('./sections/overview/overview'))
const AllOverview = load(() => import('./sections/overview/operators'))
const Requests = load(requests)
const AllRequests = load(() => everyone().then((it) => ({ default: it.AllRequests })))
const OwnersRequests = load(() => requests().then((it) => ({ default: it.OwnersRequests })))
const Chats = load(() => import('./sections/inbox/inbox'))
const AllChats = load(() => everyone().then((it) => ({ default: it.AllChats })))
const Jobs = load(() => import('./sections/jobs/jobs'))
const AllJobs = load(() => everyone().then((it) => ({ default: it.AllJobs })))
const Browser = load(() => import('./sections/browser/browser'))
const Playground = load(() => import('./sections/playground/playground'))
const Engines = load(() => import('./sections/engines/engines'))
const Upstreams = load(() => import('./sections/engines/upstreams'))
const Routing = load(routing)
// Corrections, and what guardrails found, can only be read for one owner.
const Preferences = load(() => routing().then((it) => ({ default: it.Preferences })))
const Guardrails = load(guardrails)
const Policies = load(() => guardrails().then((it) => ({ default: it.Policies })))
const Skills = load(() => import('./sections/skills/skills'))
const Review = load(() => import('./sections/skills/review').then((it) => ({ default: it.Review })))
const Workflows = load(() => import('./sections/workflows/workflows'))
const Widgets = load(() => import('./sections/widgets/widgets'))
const Webhooks = load(() => import('./sections/webhooks/webhooks'))
const Artifacts = load(() => import('./sections/files/files'))
const Keys = load(() => import('./sections/keys/keys'))
const Team = load(() => import('./sections/team/team'))
const Billing = load(() => import('./sections/billing/billing'))
const OwnersBilling = load(() => import('./sections/billing/operators'))
const Audit = load(() => import('./sections/audit/audit'))
const AllEvents = load(() => everyone().then((it) => ({ default: it.AllEvents })))
const Account = load(() => import('./sections/settings/settings'))
const Platform = load(() => import('./sections/platform/platform'))

type Row = Omit<Section, 'group'>
const [every, watching] = [{ roles: EVERY }, { roles: WATCHING }]
const mayUse = { permission: 'manageSkills' } as const

const WATCH: readonly Row[] = [
  {
    ...{ id: '', title: 'Overview', icon: ChartNoAxesColumn, letter: 'o', permission: 'viewUsage', screen: Overview },
    operators: { ...every, all: AllOverview },
  },
  {
    ...{ id: 'requests', title: 'Requests', icon: ScrollText, letter: 'r', permission: 'viewUsage', screen: Requests },
    operators: { ...every, all: AllRequests, one: OwnersRequests },
  },
  {
    ...{ id: 'inbox', title: 'Inbox', icon: Inbox, letter: 'i', ...mayUse, screen: Chats },
    operators: { ...watching, all: AllChats, one: null },
  },
  { id: 'jobs', title: 'Jobs', icon: ListTodo, letter: 'j', screen: Jobs, operators: { ...watching, all: AllJobs } },
  { id: 'browser', title: 'Browser', icon: AppWindow, ...mayUse, screen: Browser, operators: watching },
]
const BUILD: readonly Row[] = [
  { id: 'playground', title: 'Playground', icon: SquareTerminal, letter: 'p', ...mayUse, screen: Playground },
  {
    ...{ id: 'engines', title: 'Engines', icon: Cpu, letter: 'e', screen: Engines },
    operators: { ...every, all: Upstreams, one: null },
  },
  { id: 'routing', title: 'Routing', icon: Route, screen: Routing, operators: { ...every, all: Preferences } },
  {
    ...{ id: 'guardrails', title: 'Guardrails', icon: ShieldAlert, screen: Guardrails },
    operators: { ...every, all: Policies },
  },
  { id: 'skills', title: 'Skills', icon: Blocks, screen: Skills, operators: { ...every, all: Review, one: null } },
  { id: 'workflows', title: 'Workflows', icon: Workflow, ...mayUse, screen: Workflows, operators: watching },
  { id: 'widgets', title: 'Widgets', icon: MessageCircle, ...mayUse, screen: Widgets, operators: watching },
  {
    ...{ id: 'webhooks', title: 'Webhooks', icon: Webhook, permission: 'manageWebhooks', screen: Webhooks },
    operators: every,
  },
  { id: 'files', title: 'Files', icon: Files, letter: 'f', ...mayUse, screen: Artifacts, operators: watching },
]
const MANAGE: readonly Row[] = [
  { id: 'keys', title: 'Keys', icon: KeyRound, letter: 'k', screen: Keys, operators: every },
  { id: 'team', title: 'Team', icon: Users, letter: 't', screen: Team, operators: { ...every, all: null } },
  {
    ...{ id: 'billing', title: 'Billing', icon: CreditCard, letter: 'b', permission: 'manageBilling', screen: Billing },
    operators: { ...every, all: null, one: OwnersBilling },
  },
  {
    ...{ id: 'audit', title: 'Audit', icon: ShieldCheck, permission: 'viewAudit', screen: Audit },
    operators: { ...every, all: AllEvents },
  },
  { id: 'settings', title: 'Settings', icon: Settings, screen: Account },
]
const OPERATE: readonly Row[] = [
  { id: 'platform', title: 'Platform', icon: Server, screen: Platform, operators: { ...every, one: null } },
]

/** The sections in the order of the side bar. Each is loaded when it is first opened. */
export const SECTIONS: readonly Section[] = [
  ...WATCH.map((row) => ({ group: 'Watch' as const, ...row })),
  ...BUILD.map((row) => ({ group: 'Build' as const, ...row })),
  ...MANAGE.map((row) => ({ group: 'Manage' as const, ...row })),
  ...OPERATE.map((row) => ({ group: 'Platform' as const, ...row })),
]
