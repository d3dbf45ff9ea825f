import { defineCommand } from '../command'
import { column } from '../output/columns'
import { createProfiles, type Profile } from '../profiles'
import { readSecretInput } from '../secret-input'
import type { Shell } from '../shell'
import { readUrl } from '../transport'
import { argument, flag, optional, text } from '../words'

const columns = [
  column('active', 'IN-USE', { kind: 'flag' }),
  column('name', 'NAME'),
  column('url', 'URL'),
  column('production', 'PRODUCTION', { kind: 'flag' }),
  column('org', 'ORG'),
]

const common = { apis: ['host'], columns } as const

const shown = (profile: Profile, active: string | null) => ({ ...profile, active: profile.name === active })
const stored = ({ env }: Shell) => createProfiles(env)

const listProfiles = defineCommand({
  ...common,
  path: 'profiles list',
  summary: 'List the saved servers',
  about:
    'A profile stores the address of a server and its key, so that you do not have to type them again. Profiles are stored in $XDG_CONFIG_HOME/svc-admin, or ~/.config/svc-admin. Only you can read them.',
  examples: ['profiles list', 'profiles list --json'],
  impact: 'read',
  async run(shell) {
    const profiles = stored(shell)
    const rows = profiles.list().map((profile) => shown(profile, profiles.active()))
    shell.print.list(rows, columns, 'No profiles. Add one: svc-admin profiles add NAME URL')
  },
})

const showProfile = defineCommand({
  ...common,
  path: 'profiles show',
  summary: 'Show one profile, but never its key',
  about: 'Shows the profile in use unless you name one. The key is stored in a separate file and never shown.',
  examples: ['profiles show', 'profiles show prod --json'],
  impact: 'read',
  exits: [3],
  args: { name: optional('the name of a profile') },
  async run(shell, { name }) {
    const profiles = stored(shell)
    const wanted = name ?? profiles.active()
    if (wanted === null) return shell.note('No profile is in use. Commands run on this machine.')
    shell.print.item(shown(profiles.find(wanted), profiles.active()), columns)
  },
})

const addProfile = defineCommand({
  ...common,
  path: 'profiles add',
  summary: 'Save the address and key of a server under a name',
  about:
    'The key is read from --key-from-file or --key-file, stdin or a hidden prompt. It is an operator key (svc_op_…) or an API key. The first profile is used at once. --org sets the org in which its commands act. With --production the line that names the server is red.',
  examples: [
    'profiles add prod https://ops.example --key-from-file op.key --production',
    'profiles add mine https://svc.example --key-from-file -',
  ],
  impact: 'write',
  args: { name: argument('a name for the server'), address: argument('its URL') },
  flags: {
    keyFromFile: text('FILE', 'a file that contains the key; - reads stdin'),
    production: flag('mark it as a production server'),
  },
  async run(shell, { name, address, keyFromFile, production }) {
    const url = readUrl(address)
    if (shell.planned(`save ${url} as profile ${name}`)) return
    // What the environment names is for calls; only a file of this command line is meant to be kept.
    const { keyFile } = shell.globals
    const named = keyFile === shell.env.SVC_OPERATOR_KEY_FILE ? undefined : keyFile
    const input = { label: 'key', fromFile: keyFromFile ?? named, instead: 'add --key-from-file FILE' }
    const key = (await readSecretInput(shell, input)).trim()
    const profiles = stored(shell)
    profiles.save({ name, url, production: production === true, org: shell.globals.org ?? null }, key)
    shell.print.item(shown(profiles.find(name), profiles.active()), columns)
  },
})

const useProfile = defineCommand({
  ...common,
  path: 'profiles use',
  summary: 'Send commands to another saved server from now on',
  about: 'Later commands use this server, unless a flag chooses another one. "none" goes back to this machine.',
  examples: ['profiles use prod', 'profiles use none'],
  impact: 'write',
  exits: [3],
  args: { name: argument('the name of a profile, or none') },
  async run(shell, { name }) {
    if (shell.planned(`use ${name}`)) return
    const profiles = stored(shell)
    const before = profiles.active()
    profiles.use(name === 'none' ? null : name)
    shell.note(
      `${name === 'none' ? 'no profile is in use' : `profile ${name} is in use`} (undo: svc-admin profiles use ${before ?? 'none'})`,
    )
  },
})

const removeProfile = defineCommand({
  ...common,
  path: 'profiles remove',
  summary: 'Delete a saved server and its key',
  about: 'Deletes the profile and its key from this machine. The key still works until you revoke it on the server.',
  examples: ['profiles remove prod --yes', 'profiles remove old --dry-run'],
  impact: 'write',
  danger: 'moderate',
  exits: [3],
  args: { name: argument('the name of a profile') },
  async run(shell, { name }) {
    const profiles = stored(shell)
    const { url } = profiles.find(name)
    if (shell.planned(`delete profile ${name} (${url})`)) return
    shell.confirm(`Delete profile ${name} (${url}) and its key?`)
    profiles.remove(name)
    shell.note(`forgot profile ${name}`)
  },
})

export const profileCommands = [listProfiles, showProfile, addProfile, useProfile, removeProfile]
