import { apiOf, assertOperator } from '../api'
import { defineCommand } from '../command'
import { expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import type { Shell } from '../shell'
import { requireReason } from '../shell'
import { flag, text } from '../words'
import { KEY_IN_USE, skillArgument, skillColumns } from './skills-columns'

const done = [column('slug', 'SLUG'), column('installed', 'INSTALLED', { kind: 'flag' })]
const forKey = { key: text('KEY', 'for the owner of this key: id, prefix or name; required for operators') }
const changing = { apis: ['operator', 'tenant'], impact: 'write', args: skillArgument } as const

const installSkill = defineCommand({
  ...changing,
  path: 'skills install',
  summary: 'Install a skill for the owner of a key',
  about: 'All keys of an owner share the installed skills. If the manifest has an onInstall prompt, it runs once.',
  examples: ['skills install email-drafter --key ci', 'skills install email-drafter --url https://svc.example --json'],
  exits: [3, 5],
  columns: done,
  flags: forKey,
  async run(shell, { skill, key }) {
    if (shell.planned(`install ${skill}`)) return
    const { install } = await installsOf(shell, skill, key)
    await install()
    shell.print.item({ slug: skill, installed: true }, done)
  },
})

const uninstallSkill = defineCommand({
  ...changing,
  path: 'skills uninstall',
  summary: 'Uninstall a skill for the owner of a key',
  about: 'From the next request the skill no longer runs for them. Its settings are deleted.',
  examples: ['skills uninstall email-drafter --key ci --yes', 'skills uninstall email-drafter --key ci --yes --json'],
  danger: 'moderate',
  exits: [3, 5],
  columns: done,
  flags: forKey,
  async run(shell, { skill, key }) {
    if (shell.planned(`uninstall ${skill}`)) return
    shell.confirm(`Uninstall ${skill}? Its settings will be lost.`)
    const { uninstall } = await installsOf(shell, skill, key)
    await uninstall()
    shell.print.item({ slug: skill, installed: false }, done)
  },
})

/** Operators install for the owner of a key, tenants for whoever the key in use is of. @throws CommandFailed 2 */
async function installsOf(shell: Shell, slug: string, key: string | undefined) {
  const { api, isOperator } = await apiOf(shell)
  if (!isOperator) {
    assertOperator(isOperator, key !== undefined, KEY_IN_USE)
    const { skills } = (await (await shell.connect()).tenant()).client
    return {
      install: async () => void expectData(await skills.post({ slug })),
      uninstall: async () => void expectData(await skills.delete({ slug })),
    }
  }
  if (key === undefined)
    throw usageFailure(
      'Skills belong to the owner of a key, and no key was given.',
      'add --key KEY; svc-admin keys list shows them',
    )
  const one = api.keys({ ref: encodeURIComponent(key) }).skills({ slug: encodeURIComponent(slug) })
  return {
    install: async () => void expectData(await one.put()),
    uninstall: async () => void expectData(await one.delete()),
  }
}

const operating = {
  apis: ['operator'],
  impact: 'write',
  danger: 'moderate',
  exits: [3, 5],
  columns: skillColumns,
  args: skillArgument,
} as const

const disableSkill = defineCommand({
  ...operating,
  path: 'skills disable',
  summary: 'Remove a published skill from the store',
  about:
    'People who installed it keep it, but no one else can install it. A new version does not bring it back; skills enable does. With --also-installed it stops for everyone, from the next request.',
  examples: [
    'skills disable bad-skill --yes --reason "spam"',
    'skills disable bad-skill --also-installed --yes --reason "steals data" --json',
  ],
  flags: { alsoInstalled: flag('also stop it for everyone who installed it') },
  async run(shell, { skill, alsoInstalled }) {
    const reason = requireReason(shell, 'skills disable')
    if (shell.planned(`disable ${skill}`)) return
    shell.confirm(`Take ${skill} ${alsoInstalled ? 'down for everyone' : 'out of the store'}?`)
    const connection = await shell.connect()
    const one = connection.ops().skills({ ref: encodeURIComponent(skill) })
    shell.print.item(expectData(await one.disable.post({ also_installed: alsoInstalled === true })), skillColumns)
    shell.note(`Disabled ${skill}: ${reason} (undo: svc-admin skills enable ${skill})`)
  },
})

const enableSkill = defineCommand({
  ...operating,
  path: 'skills enable',
  summary: 'Return a disabled skill to the store',
  about: 'Restores the skill as it was before it was disabled or suspended.',
  examples: ['skills enable good-skill --yes --reason "was a mistake"', 'skills enable x --yes --reason ok --json'],
  async run(shell, { skill }) {
    const reason = requireReason(shell, 'skills enable')
    if (shell.planned(`enable ${skill}`)) return
    shell.confirm(`Put ${skill} back?`)
    const connection = await shell.connect()
    const one = connection.ops().skills({ ref: encodeURIComponent(skill) })
    shell.print.item(expectData(await one.enable.post()), skillColumns)
    shell.note(`Enabled ${skill}: ${reason}`)
  },
})

export const skillChangeCommands = [installSkill, uninstallSkill, disableSkill, enableSkill]
