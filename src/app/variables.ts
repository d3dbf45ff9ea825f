import { nearest } from '../kernel/nearest'
import { commandsAsTyped } from '../kernel/text'
import { SETTINGS } from './config'

const PREFIX = 'SVC_'

/** Variables that svc-admin and the client read. */
const CLIENT_VARIABLES: readonly string[] = [
  'SVC_ADMIN_AS',
  'SVC_ALLOW_JS_CONFIG',
  'SVC_API_KEY',
  'SVC_BASE_URL',
  'SVC_CONFIG',
  'SVC_DEBUG',
  'SVC_NO_INPUT',
  'SVC_OPERATOR_KEY',
  'SVC_OPERATOR_KEY_FILE',
  'SVC_ORG',
  'SVC_OUTPUT',
  'SVC_PROFILE',
  'SVC_TIME',
  'SVC_URL',
]

/** A text of this process with the commands that it names, ready to paste. */
export const asTyped = (text: string): string => commandsAsTyped(text, Bun.env)

/** A message for each variable that was probably meant as a setting. Other programs may use the prefix too. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>> = Bun.env): string[] {
  const settings = Object.values(SETTINGS).map((one) => one.env.slice(PREFIX.length))
  const known = new Set(
    Object.values(SETTINGS)
      .map((one) => one.env)
      .concat(CLIENT_VARIABLES),
  )
  return Object.keys(env).flatMap((name) => {
    const word = name.slice(PREFIX.length)
    if (!name.startsWith(PREFIX) || known.has(name)) return []
    const meant = settings.find((one) => one.endsWith(`_${word}`)) ?? nearest(word, settings)
    return meant ? [`${name} is set, but no setting has this name. Did you mean ${PREFIX}${meant}?`] : []
  })
}
