import { defineTabs } from '../../shell/tabs'
import { Accounts, Organizations } from './accounts'
import { Limits, Tiers } from './limits'
import { Configuration, Operators } from './operators'
import { Backups, Books, Doctor, Nodes } from './server'

/** Screens that only operators have: accounts, limits, and the server itself. */
export default defineTabs('platform', [
  { id: 'accounts', label: 'Accounts', screen: Accounts },
  { id: 'orgs', label: 'Organizations', screen: Organizations },
  { id: 'limits', label: 'Limit requests', screen: Limits },
  { id: 'tiers', label: 'Tiers', screen: Tiers },
  { id: 'health', label: 'Health', screen: Nodes },
  { id: 'backups', label: 'Backups', screen: Backups },
  { id: 'books', label: 'Books', screen: Books },
  { id: 'doctor', label: 'Doctor', screen: Doctor },
  { id: 'operators', label: 'Operators', screen: Operators, role: 'admin' },
  { id: 'configuration', label: 'Configuration', screen: Configuration },
])
