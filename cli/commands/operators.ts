import { OPERATOR_ROLES } from '../../src/kernel/caller'
import { columnsOf, commandsOf } from '../command'
import { argument, choice, flag, moment, needed, text } from '../words'

const columns = columnsOf`
  id, name NAME, prefix PREFIX, role ROLE, status STATUS, last_used_at LAST-USED time, expires_at EXPIRES time,
  created CREATED time wide, revoked_at REVOKED time wide`

const args = { operator: argument('id, 6 or more characters of it, prefix or name of an operator key') }
const command = commandsOf('operators', { apis: ['operator'], columns, args })

export const operatorCommands = [
  command`list (exits): List the operator keys for access from other machines
  The operator socket on the server's own machine needs no key, so it is not listed.
  $ operators list
  $ operators list --revoked --json`({
    flags: { revoked: flag('include revoked and expired ones') },
    request: ({ ops }) => ops.operators.get(),
    shown: ({ operators }, { revoked }) => operators.filter(({ status }) => revoked || status === 'active'),
    empty: 'No operator keys. Add one: svc-admin operators add NAME --role viewer',
  }),
  command`add (secret once, exits 5, delivers key): Create an operator key and show its secret once
  A viewer sees counts, states, times, ids and money. Support also sees what people wrote, and can take over chats. A reviewer decides on submissions; billing grants credit and sets tiers; an admin can do everything. Other machines can connect only if the server has SVC_OPS_LISTEN; there, use --url and --key-file.
  $ operators add grafana --role viewer --secret-to grafana.key
  $ operators add priya --role billing --expires 90d --json`({
    args: { name: argument('the person or program it is for') },
    flags: {
      role: needed(choice(OPERATOR_ROLES, 'what it is allowed to do'), 'add --role viewer'),
      expires: text('WHEN', 'when it expires: 90d from now, or an ISO date'),
    },
    action: ({ name, role }) => `add operator key "${name}" with the role ${role}`,
    request: ({ ops, shell }, { name, role, expires }) =>
      ops.operators.post({ name, role, ...(expires ? { expires_at: moment(expires, shell.clock.now()) } : {}) }),
  }),
  command`rotate OPERATOR (moderate, delivers key): Give an operator key a new secret and show it once
  The old secret stops working at once. Name, role and expiry stay the same.
  $ operators rotate priya --yes
  $ operators rotate grafana --yes --secret-to grafana.key`({
    action: ({ operator }) => `rotate operator key ${operator}`,
    question: ({ operator }) => `Give operator key ${operator} a new secret? The old one stops working at once.`,
    request: ({ ops }, { operator }) => ops.operators({ ref: operator }).rotate.post(),
  }),
  command`revoke OPERATOR (moderate, reason, exits 3): Revoke an operator key, at once and permanently
  This cannot be undone. The next request with this key gets 401.
  $ operators revoke priya --yes --reason "left the team"
  $ operators revoke grafana -y --reason old --json`({
    action: ({ operator }) => `revoke operator key ${operator}`,
    question: ' This cannot be undone.',
    request: ({ ops }, { operator }) => ops.operators({ ref: operator }).delete(),
  }),
]
