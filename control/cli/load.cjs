// The one line of the entry that an old Node cannot even read.
'use strict';
import('./main.js');
