// The scripts of the page are the files of this folder, one after the other, in one function.
(() => {
  "use strict";

