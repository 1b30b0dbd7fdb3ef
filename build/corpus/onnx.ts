/**
 * Writes ONNX models: as much of its protobuf as an embedding table needs. What a model file is made of is said in
 * `onnx.proto` of the ONNX project; the numbers here are its field numbers.
 */
const VARINT = 0
const LENGTH_DELIMITED = 2
const FLOAT = 1
const INT64 = 7
/** Opset 17 and IR 8 are what ONNX Runtime 1.21 and everything newer reads. */
const IR_VERSION = 8
const OPSET_VERSION = 17

export interface Matrix {
  readonly rows: number
  readonly columns: number
  readonly values: Float32Array
}

/** A model that answers each token id with its row of the table: the smallest thing that is shaped like an embedder. */
export function embeddingTableModel(table: Matrix): Uint8Array {
  const gather = concat([text(1, "table"), text(1, "input_ids"), text(2, "last_hidden_state"), text(4, "Gather")])
  const tokens = ["batch", "sequence"]
  const graph = concat([
    bytes(1, gather),
    text(2, "embedding-table"),
    bytes(5, tensor("table", table)),
    bytes(11, valueInfo("input_ids", INT64, tokens)),
    bytes(11, valueInfo("attention_mask", INT64, tokens)),
    bytes(12, valueInfo("last_hidden_state", FLOAT, [...tokens, table.columns])),
  ])
  const opset = concat([text(1, ""), integer(2, OPSET_VERSION)])
  return concat([integer(1, IR_VERSION), text(2, "pond"), bytes(7, graph), bytes(8, opset)])
}

function tensor(name: string, { rows, columns, values }: Matrix): Uint8Array {
  const raw = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
  return concat([integer(1, rows), integer(1, columns), integer(2, FLOAT), text(8, name), bytes(9, raw)])
}

/** A size that is known when the model runs has a name instead of a number. */
function valueInfo(name: string, elementType: number, sizes: readonly (string | number)[]): Uint8Array {
  const dimensions = sizes.map((size) => bytes(1, typeof size === "string" ? text(2, size) : integer(1, size)))
  const tensorType = concat([integer(1, elementType), bytes(2, concat(dimensions))])
  return concat([text(1, name), bytes(2, bytes(1, tensorType))])
}

// --- Protobuf --------------------------------------------------------------------------------------------------------

function integer(field: number, value: number): Uint8Array {
  return concat([varint((field << 3) | VARINT), varint(value)])
}

function text(field: number, value: string): Uint8Array {
  return bytes(field, new TextEncoder().encode(value))
}

function bytes(field: number, value: Uint8Array): Uint8Array {
  return concat([varint((field << 3) | LENGTH_DELIMITED), varint(value.length), value])
}

function varint(value: number): Uint8Array {
  const septets: number[] = []
  for (let rest = value; septets.length === 0 || rest > 0; rest = Math.floor(rest / 128)) septets.push(rest % 128)
  return Uint8Array.from(septets, (septet, place) => (place < septets.length - 1 ? septet | 128 : septet))
}

function concat(pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces))
}
