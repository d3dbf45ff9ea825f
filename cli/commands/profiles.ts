import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { userFolder } from '../../src/kernel/user-folder'
import { type Command, columnsOf, commandsOf } from '../command'
import { notFoundFailure, usageFailure } from '../failure'
import type { Environment, Globals } from '../globals'
import { readSecretInput } from '../secret'
import { writeConfigFile, writeWhole } from '../settings'
import type { Shell } from '../shell'
import { readUrl } from '../transport'
import { argument, flag, optional, text } from '../words'

/** A named remote server. Its key is in a separate file (docs/operating.md 2.2). */
type Profile = { name: string; url: string; production: boolean; org: string | null }

type Stored = {
  active: string | null
  profiles: Profile[]
  /** `{"keys":{"jobs.cancel":"x"},"replies":{"hold":"One moment."}}`: keys and saved replies of the dashboard. */
  tui?: { keys?: Record<string, string | string[]>; replies?: Record<string, string> }
}

const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/

const columns = columnsOf`active IN-USE flag, name NAME, url URL, production PRODUCTION flag, org ORG`

const args = { name: argument('the name of a profile') }
const command = commandsOf('profiles', { apis: ['host'], exits: [], columns, args })

const shown = (profile: Profile, active: string | null) => ({ ...profile, active: profile.name === active })
const stored = ({ env }: Shell) => createProfiles(env)

export const profileCommands = [
  command`list: List the saved servers
  A profile stores the address of a server and its key, so that you do not have to type them again. Profiles are stored in $XDG_CONFIG_HOME/svc-admin, or ~/.config/svc-admin. Only you can read them.
  $ profiles list`({
    async answer({ shell }) {
      const profiles = stored(shell)
      return profiles.list().map((profile) => shown(profile, profiles.active()))
    },
    empty: 'No profiles. Add one: svc-admin profiles add NAME URL',
  }),
  command`show (exits 3): Show one profile, but never its key
  Shows the profile in use unless you name one. The key is stored in a separate file and never shown.
  $ profiles show
  $ profiles show prod --json`({
    args: { name: optional('the name of a profile') },
    async run(shell, { name }) {
      const profiles = stored(shell)
      const wanted = name ?? profiles.active()
      if (wanted === null) return shell.note('No profile is in use. Commands run on this machine.')
      shell.print.item(shown(profiles.find(wanted), profiles.active()), columns)
    },
  }),
  command`add: Save the address and key of a server under a name
  The key is read from --key-from-file or --key-file, stdin or a hidden prompt. It is an operator key (svc_op_…) or an API key. The first profile is used at once. --org sets the org in which its commands act. With --production the line that names the server is red.
  $ profiles add prod https://ops.example --key-from-file op.key --production
  $ profiles add mine https://svc.example --key-from-file -`({
    args: { name: argument('a name for the server'), address: argument('its URL') },
    flags: {
      keyFromFile: text('FILE', 'a file that contains the key; - reads stdin'),
      production: flag('mark it as a production server'),
    },
    find: async (_, { address }) => ({ url: readUrl(address) }),
    action: ({ url, name }) => `save ${url} as profile ${name}`,
    async answer({ shell }, { name, url, keyFromFile, production = false }) {
      // The environment's key file is for calls. Only a file named on this command line is stored in the profile.
      const { keyFile, org = null } = shell.globals
      const named = keyFile === shell.env.SVC_OPERATOR_KEY_FILE ? undefined : keyFile
      const input = { label: 'key', fromFile: keyFromFile ?? named, instead: 'add --key-from-file FILE' }
      const profiles = stored(shell)
      await profiles.save({ name, url, production, org }, (await readSecretInput(shell, input)).trim())
      return shown(profiles.find(name), profiles.active())
    },
  }),
  command`use (exits 3): Send commands to another saved server from now on
  Later commands use this server, unless a flag chooses another one. "none" goes back to this machine.
  $ profiles use prod
  $ profiles use none`({
    args: { name: argument('the name of a profile, or none') },
    action: ({ name }) => `use ${name}`,
    async run(shell, { name }) {
      const profiles = stored(shell)
      const undo = `undo: svc-admin profiles use ${profiles.active() ?? 'none'}`
      await profiles.use(name === 'none' ? null : name)
      shell.note(`${name === 'none' ? 'no profile is in use' : `profile ${name} is in use`} (${undo})`)
    },
  }),
  command`remove NAME (moderate, exits 3): Delete a saved server and its key
  Deletes the profile and its key from this machine. The key still works until you revoke it on the server.
  $ profiles remove prod --yes
  $ profiles remove old --dry-run`({
    find: async (shell, { name }) => stored(shell).find(name),
    action: ({ name, url }) => `delete profile ${name} (${url})`,
    question: ({ name, url }) => `Delete profile ${name} (${url}) and its key?`,
    answer: ({ shell }, { name }) => stored(shell).remove(name),
    note: (_, { name }) => `forgot profile ${name}`,
  }),
]

/** The user's profiles, in one file that only the user can read. */
export function createProfiles(env: Environment) {
  const folder = userFolder(env)
  const file = folder && join(folder, 'config.json')
  const keyFileOf = (name: string): string => join(folder!, 'keys', name)

  function read(): Stored {
    if (!file || !existsSync(file)) return { active: null, profiles: [] }
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Stored
    } catch {
      throw usageFailure(`${file} is not valid JSON.`, 'fix it, or remove it and add the profiles again')
    }
  }

  async function write(stored: Stored): Promise<void> {
    if (!file) throw usageFailure('There is no home folder to store profiles in.', 'set XDG_CONFIG_HOME or HOME')
    await writeConfigFile(file, stored)
  }

  function find(name: string): Profile {
    const found = read().profiles.find((profile) => profile.name === name)
    if (!found) throw notFoundFailure(`There is no profile ${name}.`, 'svc-admin profiles list')
    return found
  }

  return {
    find,
    keyFileOf,
    list: () => read().profiles,
    active: () => read().active,
    dashboardKeys: () => read().tui?.keys ?? {},
    savedReplies: () => read().tui?.replies ?? {},

    /** Adds or replaces a profile. The first one becomes active. @throws CommandFailed 2 */
    async save(profile: Profile, key: string): Promise<void> {
      if (!NAME.test(profile.name))
        throw usageFailure(`NAME is "${profile.name}"; it must be lower-case letters, digits and hyphens.`)
      const { active, profiles, ...rest } = read()
      const others = profiles.filter(({ name }) => name !== profile.name)
      await write({ ...rest, active: active ?? profile.name, profiles: [...others, profile] })
      await writeWhole(keyFileOf(profile.name), `${key}\n`)
    },

    /** Sets the active profile, or none with null. */
    async use(name: string | null): Promise<void> {
      if (name !== null) find(name)
      await write({ ...read(), active: name })
    },

    async remove(name: string): Promise<void> {
      find(name)
      const { active, profiles, ...rest } = read()
      await write({
        ...rest,
        active: active === name ? null : active,
        profiles: profiles.filter((one) => one.name !== name),
      })
      rmSync(keyFileOf(name), { force: true })
    },
  }
}

/**
 * Completes the flags with a profile: the named one, or the active one if nothing else selects a server. Flags of the
 * command line win. @throws CommandFailed 2 for two servers, and for a server named to a command that works on this
 * machine
 * @throws CommandFailed 3 for an unknown profile
 */
export function withProfile(
  globals: Globals,
  env: Environment,
  { apis, path }: Pick<Command, 'apis' | 'path'>,
): Globals {
  const { profile: named, url, local, socket, keyFile } = globals
  const chosen = [url && '--url', local && '--local', socket && '--socket'].filter(Boolean)
  if (named && chosen.length) throw usageFailure(`--profile and ${chosen[0]} choose two servers. Leave one out.`)
  const isHere = apis.every((api) => api === 'host')
  const elsewhere = named ? '--profile' : url && url !== env.SVC_URL && '--url'
  // A profile stores an address. Texts are the same everywhere, also within a dashboard of another server.
  const keepsIt = path.startsWith('profiles ') || ['help', 'cheat', 'commands'].includes(path)
  if (isHere && elsewhere && !keepsIt)
    throw usageFailure(`${path} works only on this machine.`, `leave out ${elsewhere}`)
  if (chosen.length || isHere) return globals
  const profiles = createProfiles(env)
  const name = named ?? profiles.active()
  if (!name) return globals
  const { org, ...profile } = profiles.find(name)
  return {
    ...globals,
    url: profile.url,
    // The environment's key file is meant for servers without a profile.
    keyFile: keyFile && keyFile !== env.SVC_OPERATOR_KEY_FILE ? keyFile : profiles.keyFileOf(name),
    ...(org && !globals.org ? { org } : {}),
    inProfile: { name, production: profile.production },
  }
}
