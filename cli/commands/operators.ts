import { OPERATOR_ROLES } from '../../src/kernel/caller'
import { commandsOf } from '../command'
import { expectData, usageFailure } from '../failure'
import { columnsOf } from '../output/columns'
import { deliverSecret, SECRET_FLAGS } from '../secret'
import { requireReason } from '../shell'
import { argument, choice, flag, moment, text } from '../words'

const columns = columnsOf`
  id, name NAME, prefix PREFIX, role ROLE, status STATUS, last_used_at LAST-USED time, expires_at EXPIRES time,
  created CREATED time wide, revoked_at REVOKED time wide`

const WHO = { operator: argument('id, 6 or more characters of it, prefix or name of an operator key') }

const command = commandsOf('operators', { apis: ['operator'], columns })

const listOperators = command('list', {
  summary: 'List the operator keys for access from other machines',
  about: "The operator socket on the server's own machine needs no key, so it is not listed.",
  examples: ['operators list', 'operators list --revoked --json'],
  flags: { revoked: flag('include revoked and expired ones') },
  exits: [],
  async run(shell, { revoked }) {
    const { operators } = expectData(await (await shell.connect()).ops().operators.get())
    const shown = operators.filter(({ status }) => revoked || status === 'active')
    shell.print.list(shown, columns, 'No operator keys. Add one: svc-admin operators add NAME --role viewer')
  },
})

const addOperator = command('add', {
  summary: 'Create an operator key and show its secret once',
  about:
    'A viewer sees counts, states, times, ids and money. Support also sees what people wrote, and can take over chats. A reviewer decides on submissions; billing grants credit and sets tiers; an admin can do everything. Other machines can connect only if the server has SVC_OPS_LISTEN; there, use --url and --key-file.',
  examples: [
    'operators add grafana --role viewer --secret-to grafana.key',
    'operators add priya --role billing --expires 90d --json',
  ],
  impact: 'write',
  danger: 'secret once',
  exits: [5],
  args: { name: argument('the person or program it is for') },
  flags: {
    role: choice(OPERATOR_ROLES, 'what it is allowed to do'),
    expires: text('WHEN', 'when it expires: 90d from now, or an ISO date'),
    ...SECRET_FLAGS,
  },
  async run(shell, { name, role, expires, ...methods }) {
    if (!role) throw usageFailure('operators add needs --role.', `svc-admin operators add ${name} --role viewer`)
    if (shell.planned(`add operator key "${name}" with the role ${role}`)) return
    const body = { name, role, ...(expires ? { expires_at: moment(expires, shell.clock.now()) } : {}) }
    await deliverSecret(shell, { field: 'key', methods, columns }, async () =>
      expectData(await (await shell.connect()).ops().operators.post(body)),
    )
  },
})

const rotateOperator = command('rotate', {
  summary: 'Give an operator key a new secret and show it once',
  about: 'The old secret stops working at once. Name, role and expiry stay the same.',
  examples: ['operators rotate priya --yes', 'operators rotate grafana --yes --secret-to grafana.key'],
  impact: 'write',
  danger: 'moderate',
  args: WHO,
  flags: SECRET_FLAGS,
  async run(shell, { operator, ...methods }) {
    if (shell.planned(`rotate operator key ${operator}`)) return
    shell.confirm(`Give operator key ${operator} a new secret? The old one stops working at once.`)
    await deliverSecret(shell, { field: 'key', methods, columns }, async () => {
      const one = (await shell.connect()).ops().operators({ ref: encodeURIComponent(operator) })
      return expectData(await one.rotate.post())
    })
  },
})

const revokeOperator = command('revoke', {
  summary: 'Revoke an operator key, at once and permanently',
  about: 'This cannot be undone. The next request with this key gets 401.',
  examples: [
    'operators revoke priya --yes --reason "left the team"',
    'operators revoke grafana -y --reason old --json',
  ],
  impact: 'write',
  danger: 'moderate',
  exits: [3],
  args: WHO,
  async run(shell, { operator }) {
    requireReason(shell, 'operators revoke')
    if (shell.planned(`revoke operator key ${operator}`)) return
    shell.confirm(`Revoke operator key ${operator}? This cannot be undone.`)
    const one = (await shell.connect()).ops().operators({ ref: encodeURIComponent(operator) })
    shell.print.item(expectData(await one.delete()), columns)
  },
})

export const operatorCommands = [listOperators, addOperator, rotateOperator, revokeOperator]
