import { setting, type Values } from '../../kernel/config'
import { t } from '../../kernel/schema'

export const referenceSettings = {
  pagesPlayground: setting({
    env: 'SVC_PAGES_PLAYGROUND',
    schema: t.Union([t.Boolean(), t.Literal('auto')]),
    default: 'auto',
    about:
      'Whether /docs/playground exists, where developers try prompts with a key. auto means everywhere except in production.',
  }),
}

type Playground = Values<typeof referenceSettings> & { production: boolean }

/** Whether this server has the playground (dx 5.5). */
export const hasPlayground = ({ pagesPlayground, production }: Playground): boolean =>
  pagesPlayground === 'auto' ? !production : pagesPlayground
