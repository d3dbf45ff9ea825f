import { setting, type Values } from '../../kernel/config'
import { oneOf, t } from '../../kernel/schema'

const OnOff = oneOf(['on', 'off'] as const)

export const referenceSettings = {
  root: setting({
    env: 'SVC_ROOT',
    schema: oneOf(['full', 'minimal'] as const),
    default: 'full',
    about: 'What / shows: minimal leaves only what this is and its health, for public hosts.',
  }),
  console: setting({
    env: 'SVC_CONSOLE',
    schema: OnOff,
    default: 'on',
    about: 'Whether this server has the console at /console.',
  }),
  maxViews: setting({
    env: 'SVC_MAX_VIEWS',
    schema: t.Integer({ minimum: 1, maximum: 10_000 }),
    default: 50,
    about: 'How many saved views of the console one person or organization can have.',
  }),
  consoleOperators: setting({
    env: 'SVC_CONSOLE_OPERATORS',
    schema: OnOff,
    default: 'on',
    about: 'Whether accounts with an operator role may use the operator API from the console.',
  }),
}

/** True if operators may work in the console. */
export const hasOperators = ({
  console,
  consoleOperators,
}: Pick<Values<typeof referenceSettings>, 'console' | 'consoleOperators'>) =>
  console === 'on' && consoleOperators === 'on'
