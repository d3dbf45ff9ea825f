import { setting, type Values } from '../../kernel/config'
import { oneOf, t } from '../../kernel/schema'

const OnOff = oneOf(['on', 'off'] as const)

export const referenceSettings = {
  pagesPlayground: setting({
    env: 'SVC_PAGES_PLAYGROUND',
    schema: t.Union([t.Boolean(), t.Literal('auto')]),
    default: 'auto',
    about:
      'Whether /docs/playground exists, where developers try prompts with a key. auto means everywhere except in production.',
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

/** Whether operators may work in the console (console 9.8). */
export const hasOperators = ({
  console,
  consoleOperators,
}: Pick<Values<typeof referenceSettings>, 'console' | 'consoleOperators'>) =>
  console === 'on' && consoleOperators === 'on'

type Playground = Pick<Values<typeof referenceSettings>, 'pagesPlayground'> & { production: boolean }

/** Whether this server has the playground (dx 5.5). */
export const hasPlayground = ({ pagesPlayground, production }: Playground): boolean =>
  pagesPlayground === 'auto' ? !production : pagesPlayground
