import {
  ChartNoAxesColumn,
  Cpu,
  Files,
  KeyRound,
  ListTodo,
  type LucideIcon,
  ScrollText,
  ShieldCheck,
  SquareTerminal,
  Users,
  Webhook,
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
    id: 'jobs',
    title: 'Jobs',
    group: 'Watch',
    icon: ListTodo,
    letter: 'j',
    screen: load(() => import('./sections/jobs/jobs')),
  },
  {
    id: 'files',
    title: 'Files',
    group: 'Watch',
    icon: Files,
    letter: 'f',
    permission: 'manageSkills',
    screen: load(() => import('./sections/files/files')),
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
    id: 'webhooks',
    title: 'Webhooks',
    group: 'Build',
    icon: Webhook,
    permission: 'manageWebhooks',
    screen: load(() => import('./sections/webhooks/webhooks')),
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
    id: 'audit',
    title: 'Audit',
    group: 'Manage',
    icon: ShieldCheck,
    permission: 'viewAudit',
    screen: load(() => import('./sections/audit/audit')),
  },
]
