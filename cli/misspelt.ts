import { type Environment, GLOBAL_FLAGS } from './globals'
import { didYouMean } from './suggest'

/** What programs beside the server read. */
const OTHERS = ['SVC_API_KEY', 'SVC_OPERATOR_KEY']

/** A sentence for each variable that was probably meant for a setting: a server passes over it without a word. */
export async function misspelt(env: Environment): Promise<string[]> {
  const { RETIRED, SETTINGS } = await import('../src/app/config')
  const settings = Object.values(SETTINGS).map((one) => one.env)
  const flags = Object.values(GLOBAL_FLAGS).flatMap((one) => ('env' in one ? [one.env] : []))
  const known = new Set([...settings, ...flags, ...OTHERS, ...RETIRED.map((one) => one.env)])
  return Object.keys(env).flatMap((name) => {
    const hint = name.startsWith('SVC_') && !known.has(name) && didYouMean(name, settings)
    return hint ? [`${name} is set, but no setting has this name.${hint}`] : []
  })
}
