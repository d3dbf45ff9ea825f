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
  Settings,
  ShieldAlert,
  ShieldCheck,
  SquareTerminal,
  Users,
  Webhook,
  Workflow,
} from 'lucide-react'
import { type ComponentType, lazy } from 'react'

export type Section = {
  /** Its part of the address; the overview has none. */
  id: string
  title: string
  group: 'Watch' | 'Build' | 'Manage'
  icon: LucideIcon
  /** The letter after `g` that leads to it. */
  letter?: string
  /** The permission without which it is not shown. */
  permission?: string
  screen: ComponentType
}

const load = (screen: () => Promise<{ default: ComponentType }>) => lazy(screen)

/** The sections in the order of the side bar (console 9.5). Each is loaded when it is first opened. */
export const SECTIONS: readonly Section[] = [
  {
    id: '',
    title: 'Overview',
    group: 'Watch',
    icon: ChartNoAxesColumn,
    letter: 'o',
    permission: 'viewUsage',
    screen: load(() => import('./sections/overview/overview')),
  },
  {
    id: 'requests',
    title: 'Requests',
    group: 'Watch',
    icon: ScrollText,
    letter: 'r',
    permission: 'viewUsage',
    screen: load(() => import('./sections/requests/requests')),
  },
  {
    id: 'inbox',
    title: 'Inbox',
    group: 'Watch',
    icon: Inbox,
    letter: 'i',
    permission: 'manageSkills',
    screen: load(() => import('./sections/inbox/inbox')),
  },
  {
    id: 'jobs',
    title: 'Jobs',
    group: 'Watch',
    icon: ListTodo,
    letter: 'j',
    screen: load(() => import('./sections/jobs/jobs')),
  },
  {
    id: 'browser',
    title: 'Browser',
    group: 'Watch',
    icon: AppWindow,
    permission: 'manageSkills',
    screen: load(() => import('./sections/browser/browser')),
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
  },
  {
    id: 'routing',
    title: 'Routing',
    group: 'Build',
    icon: Route,
    screen: load(() => import('./sections/routing/routing')),
  },
  {
    id: 'guardrails',
    title: 'Guardrails',
    group: 'Build',
    icon: ShieldAlert,
    screen: load(() => import('./sections/guardrails/guardrails')),
  },
  {
    id: 'skills',
    title: 'Skills',
    group: 'Build',
    icon: Blocks,
    screen: load(() => import('./sections/skills/skills')),
  },
  {
    id: 'workflows',
    title: 'Workflows',
    group: 'Build',
    icon: Workflow,
    permission: 'manageSkills',
    screen: load(() => import('./sections/workflows/workflows')),
  },
  {
    id: 'widgets',
    title: 'Widgets',
    group: 'Build',
    icon: MessageCircle,
    permission: 'manageSkills',
    screen: load(() => import('./sections/widgets/widgets')),
  },
  {
    id: 'webhooks',
    title: 'Webhooks',
    group: 'Build',
    icon: Webhook,
    permission: 'manageWebhooks',
    screen: load(() => import('./sections/webhooks/webhooks')),
  },
  {
    id: 'files',
    title: 'Files',
    group: 'Build',
    icon: Files,
    letter: 'f',
    permission: 'manageSkills',
    screen: load(() => import('./sections/files/files')),
  },
  {
    id: 'keys',
    title: 'Keys',
    group: 'Manage',
    icon: KeyRound,
    letter: 'k',
    screen: load(() => import('./sections/keys/keys')),
  },
  {
    id: 'team',
    title: 'Team',
    group: 'Manage',
    icon: Users,
    letter: 't',
    screen: load(() => import('./sections/team/team')),
  },
  {
    id: 'billing',
    title: 'Billing',
    group: 'Manage',
    icon: CreditCard,
    letter: 'b',
    permission: 'viewUsage',
    screen: load(() => import('./sections/billing/billing')),
  },
  {
    id: 'audit',
    title: 'Audit',
    group: 'Manage',
    icon: ShieldCheck,
    permission: 'viewAudit',
    screen: load(() => import('./sections/audit/audit')),
  },
  {
    id: 'settings',
    title: 'Settings',
    group: 'Manage',
    icon: Settings,
    screen: load(() => import('./sections/settings/settings')),
  },
]
