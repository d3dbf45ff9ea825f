import { defineEvent } from '../events'

/** Data of the events of connectors (contract 14.2). */
type ConnectorFacts = { connector_id: string; type: string; status: string; previous_status: string | null }

export const connectorCreated = defineEvent<ConnectorFacts>('connector.created')
export const connectorChanged = defineEvent<ConnectorFacts>('connector.status_changed')
