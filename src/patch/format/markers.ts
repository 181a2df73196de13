/** The fixed lines of the format (reference §3). A blank after the colon is part of a header. */
export const beginMarker = '*** Begin Patch';
export const endMarker = '*** End Patch';
export const endOfFileMarker = '*** End of File';
export const chunkMarker = '@@';
export const addHeader = '*** Add File: ';
export const deleteHeader = '*** Delete File: ';
export const updateHeader = '*** Update File: ';
export const moveHeader = '*** Move to: ';
/** The only header that needs no blank. */
export const environmentHeader = '*** Environment ID:';
